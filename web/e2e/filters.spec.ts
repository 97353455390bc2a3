import type { Page } from "@playwright/test";
import { ask, expect, ready, serious, test } from "./fixtures";
import type { Server } from "./server";

const FRAMES = [
  { name: "frame-1.txt", text: "The red car stands at the harbour gate.", camera: "Leica M6", iso: 400 },
  { name: "frame-2.txt", text: "The red car stands in front of the theatre.", camera: "Canon F1", iso: 800 },
  { name: "frame-3.txt", text: "A blue boat lies on the beach.", camera: "Leica M6", iso: 100 },
];

async function addFrames(server: Server): Promise<void> {
  for (const { name, text, camera, iso } of FRAMES) {
    const form = new FormData();
    form.set("file", new Blob([text]), name);
    form.set("metadata", JSON.stringify({ camera, iso, taken: "2025-06-01" }));
    await server.call("POST", "/ingest", form);
  }
  await ready(server);
}

/** The files that the library lists. */
async function listed(page: Page): Promise<string[]> {
  const names = await page.locator(".library-file .file-link").allTextContents();
  return names.sort();
}

async function addFilter(page: Page, field: string, value: RegExp): Promise<void> {
  await page.getByRole("button", { name: "Add filter" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Field" }).selectOption({ label: field });
  await dialog.getByRole("button", { name: value }).click();
  await expect(dialog).toBeHidden();
}

test("the library is filtered by any field, the address keeps it, and a question draws on what is left", async ({
  home: page,
  server,
}) => {
  await addFrames(server);
  await page.goto(`${server.address}/library`);
  await addFilter(page, "camera", /^Leica M6: 2 files$/);
  await expect(page.getByText("2 files found")).toBeVisible();
  expect(await listed(page)).toEqual(["frame-1.txt", "frame-3.txt"]);
  await page.getByRole("button", { name: "Add filter" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Field" }).selectOption({ label: "iso" });
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("combobox", { name: "Operator" }).selectOption({ label: "is at least" });
  await dialog.getByRole("textbox", { name: "Value" }).fill("fast");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Enter a value of this type.");
  await dialog.getByRole("textbox", { name: "Value" }).fill("200");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("1 file found")).toBeVisible();
  await page.reload();
  await expect(page.getByText("1 file found")).toBeVisible();
  expect(await listed(page)).toEqual(["frame-1.txt"]);
  expect(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove filter: iso is at least 200" }).click();
  await expect(page.getByText("2 files found")).toBeVisible();
  await page.getByRole("button", { name: "Remove filter: camera is Leica M6" }).click();
  await expect(page).not.toHaveURL(/filters=/);

  await addFilter(page, "camera", /^Canon F1: 1 file$/);
  await page.getByRole("button", { name: "Ask about these" }).click();
  await expect(page.getByRole("button", { name: "Remove filter: camera is Canon F1" })).toBeVisible();
  const reply = await ask(page, "Where does the red car stand?");
  await expect(reply).toContainText("theatre");
  await expect(reply).not.toContainText("harbour");
  await expect(page.getByRole("article", { name: "You asked" }).last()).toContainText("camera is Canon F1");
  await page.getByRole("button", { name: "Remove filter: camera is Canon F1" }).click();
  const everywhere = await ask(page, "Where does the red car stand, at the gate?");
  await expect(everywhere).toContainText("harbour");
});

test("metadata is entered with a file, refused where it is wrong, and changed later", async ({
  home: page,
  server,
}) => {
  await addFrames(server);
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  const dialog = page.getByRole("dialog");
  const file = (name: string) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(`A green van, seen in ${name}.`),
  });
  await dialog.getByLabel("Choose files").setInputFiles(file("frame-4.txt"));
  await dialog.getByText("Options").click();
  await dialog.getByRole("button", { name: "Add metadata" }).click();
  await expect(dialog.locator("datalist option[value=camera]").first()).toBeAttached();
  await dialog
    .getByRole("textbox", { name: "Key" })
    .or(dialog.getByRole("combobox", { name: "Key" }))
    .fill("iso");
  await expect(dialog.getByRole("combobox", { name: "Type of value" })).toHaveValue("number");
  await dialog.getByRole("textbox", { name: "Value" }).fill("much");
  await dialog.getByRole("textbox", { name: "Identifier" }).fill("facets");
  await dialog.getByRole("button", { name: "Add 1 file" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Enter a number, such as 1.8.");
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("textbox", { name: "Value" }).fill("1600");
  await dialog.getByRole("button", { name: "Add 1 file" }).click();

  // The server refuses the identifier: the dialog comes back with all that was entered, and says so at the field.
  const tray = page.getByRole("region", { name: "Uploads" });
  await tray.getByRole("button", { name: "Change details" }).click();
  await expect(dialog.getByRole("alert")).toContainText("An identifier may not be 'facets'");
  await expect(dialog.getByRole("textbox", { name: "Value" })).toHaveValue("1600");
  await dialog.getByRole("textbox", { name: "Identifier" }).fill("van-4");
  await expect(dialog.getByRole("alert")).toBeHidden();
  await dialog.getByRole("button", { name: "Add 1 file" }).click();
  await expect(tray.getByRole("listitem").filter({ hasText: "frame-4.txt" })).toContainText("Ready");
  await tray.getByRole("link", { name: "frame-4.txt" }).click();

  const card = page.getByRole("region", { name: "Metadata" });
  await expect(card).toContainText("van-4");
  await expect(card).toContainText("1600");
  await card.getByRole("button", { name: "Edit metadata" }).click();
  await dialog.getByRole("button", { name: "Remove iso" }).click();
  await dialog.getByRole("button", { name: "Add metadata" }).click();
  await dialog.getByRole("combobox", { name: "Key" }).fill("kept");
  await dialog.getByRole("combobox", { name: "Type of value" }).selectOption({ label: "Yes or no" });
  await dialog.getByRole("textbox", { name: "Identifier" }).fill("a/b");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("An identifier may not contain control characters");
  await dialog.getByRole("textbox", { name: "Identifier" }).fill("van-5");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("dialog", { name: "Edit metadata" })).toBeHidden();
  await expect(card).toContainText("van-5");
  await expect(card).toContainText("Yes");
  await expect(card).not.toContainText("1600");
  const { metadata } = await server.call<{ metadata: unknown }>("GET", "/resources/van-5");
  expect(metadata).toEqual({ kept: true });
});

test("a filter that was read from a question is shown with the answer, and a click takes it off", async ({
  home: page,
}) => {
  const reply = await ask(page, "What does the Loan Policy.pdf say about interest?");
  const inferred = reply.getByRole("group", { name: "Filters from the query" });
  const off = inferred.getByRole("button", { name: /^Answer again without/ });
  await expect(off).toHaveCount(1);
  await off.click();
  await expect(page.getByRole("group", { name: "Filters from the query" })).toHaveCount(0);
  await expect(page.getByRole("article", { name: "Answer" }).last()).not.toHaveAttribute("aria-busy", "true");
  await expect(page.getByRole("article", { name: "You asked" })).toHaveCount(1);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("filters and metadata fit the screen", async ({ home: page, server }) => {
    await addFrames(server);
    const fits = async (): Promise<void> =>
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.goto(`${server.address}/library`);
    await addFilter(page, "camera", /^Leica M6/);
    await expect(page.getByText("2 files found")).toBeVisible();
    await fits();
    await page.getByRole("button", { name: "Add files" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Options").click();
    await dialog.getByRole("button", { name: "Add metadata" }).click();
    const key = dialog.getByRole("combobox", { name: "Key" });
    await key.fill("camera");
    for (const part of [key, dialog.getByRole("combobox", { name: "Value", exact: true })]) {
      const box = await part.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
    }
    await fits();
  });
});
