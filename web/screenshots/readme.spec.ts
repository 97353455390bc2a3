// Narrow and wide, light and dark: the pictures in docs/images.
import { join } from "node:path";
import { ask, expect, ready, test } from "../e2e/fixtures";
import type { Server } from "../e2e/server";

const IMAGES = join(import.meta.dirname, "../../docs/images");
const QUESTION = "What is the maximum loan size for first-time borrowers?";

test("a cited answer beside its source", async ({ home: page }) => {
  const reply = await ask(page, QUESTION);
  await reply
    .getByRole("button", { name: /^Source 1/ })
    .first()
    .click();
  await expect(page.locator(".pdf-mark").first()).toBeInViewport();
  await expect(page.locator(".textLayer span").first()).toBeAttached();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(IMAGES, "answer.png") });
});

test("an answer with a picture", async ({ home: page }) => {
  const reply = await ask(page, "Plot revenue and expenses by quarter");
  await expect(reply.locator(".picture-bar").first()).toBeVisible();
  await page.screenshot({ path: join(IMAGES, "picture.png") });
});

test("a computed answer beside the cell that it cites", async ({ home: page }) => {
  const reply = await ask(page, "Which quarter had the highest expenses?");
  await reply.getByRole("button", { name: /^Show chart/ }).click();
  await expect(reply.locator(".picture-bar").first()).toBeVisible();
  await reply
    .getByRole("button", { name: /^Source 1/ })
    .first()
    .click();
  await expect(page.locator("[data-cited]")).toBeInViewport();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(IMAGES, "cell.png") });
});

test("an honest refusal", async ({ home: page }) => {
  const reply = await ask(page, "What's our CAC?");
  await reply.getByRole("button", { name: /^Closest/ }).click();
  await expect(page.locator(".nearest-text").first()).not.toBeEmpty();
  await page.screenshot({ path: join(IMAGES, "refusal.png") });
});

test("the library", async ({ home: page, server }) => {
  await page.goto(`${server.address}/library`);
  await expect(page.getByRole("link", { name: "Loan Policy.pdf" })).toBeVisible();
  await page.screenshot({ path: join(IMAGES, "library.png") });
});

test.describe("on a phone, dark", () => {
  test.use({ viewport: { width: 390, height: 780 }, colorScheme: "dark", deviceScaleFactor: 2 });

  test("a cited answer", async ({ home: page }) => {
    const reply = await ask(page, QUESTION);
    await reply
      .getByRole("button", { name: /^Source 1/ })
      .first()
      .hover();
    await expect(page.locator(".passage mark")).toBeVisible();
    await page.screenshot({ path: join(IMAGES, "phone.png") });
  });
});

test("a figure from a table of a PDF beside its cell", async ({ home: page }) => {
  const reply = await ask(page, "What is the longest term of a second and third loan?");
  await reply
    .getByRole("button", { name: /^Source 1/ })
    .first()
    .click();
  await expect(page.locator(".pdf-cell")).toBeInViewport();
  await expect(page.locator(".textLayer span").first()).toBeAttached();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(IMAGES, "pdf-cell.png") });
});

/** Three described photographs' notes. */
async function addFrames(server: Server): Promise<void> {
  const frames = [
    ["harbour.txt", "Leica M6", 400, "The red car stands at the harbour gate at noon."],
    ["theatre.txt", "Canon F1", 800, "The red car stands in front of the theatre at night."],
    ["beach.txt", "Leica M6", 100, "A blue boat lies on the beach."],
  ] as const;
  for (const [name, camera, iso, text] of frames) {
    const form = new FormData();
    form.set("file", new Blob([text]), name);
    form.set("metadata", JSON.stringify({ camera, iso, taken: "2025-06-01", outdoor: true }));
    await server.call("POST", "/ingest", form);
  }
  await ready(server);
}

test.describe("metadata and filters", () => {
  test.use({ viewport: { width: 1120, height: 720 } });

  test("metadata in the upload dialog", async ({ home: page, server }) => {
    await addFrames(server);
    await page.getByRole("button", { name: "Attach or filter" }).click();
    await page.getByRole("menuitem", { name: "Upload files" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByLabel("Choose files")
      .setInputFiles({ name: "market.txt", mimeType: "text/plain", buffer: Buffer.from("A green van at the market.") });
    await dialog.getByText("Options").click();
    await dialog.getByRole("textbox", { name: "Identifier" }).fill("frame-17");
    for (const [place, key, value] of [
      [0, "camera", "Leica M6"],
      [1, "iso", "fast"],
      [2, "outdoor", ""],
    ] as const) {
      await dialog.getByRole("button", { name: "Add metadata" }).click();
      await dialog.getByLabel("Key").nth(place).fill(key);
      if (value) await dialog.getByLabel("Value", { exact: true }).nth(place).fill(value);
    }
    await dialog.getByRole("button", { name: "Add 1 file" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByRole("alert").scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(IMAGES, "upload-metadata.png") });
  });

  test("the filter bar, and an answer from the files that it leaves", async ({ home: page, server }) => {
    await addFrames(server);
    const filters = [{ field: "metadata.outdoor", operator: "eq", value: true }];
    await page.goto(`${server.address}/library?filters=${encodeURIComponent(JSON.stringify(filters))}`);
    await expect(page.getByText("3 files found")).toBeVisible();
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("dialog").getByRole("combobox", { name: "Field" }).selectOption({ label: "camera" });
    await expect(page.getByRole("button", { name: "Leica M6: 2 files" })).toBeVisible();
    await page.screenshot({ path: join(IMAGES, "filter-bar.png") });
    await page.getByRole("button", { name: "Canon F1: 1 file" }).click();
    await page.getByRole("button", { name: "Ask about these" }).click();
    const reply = await ask(page, "Where does the red car stand?");
    await expect(reply).toContainText("theatre");
    await page.screenshot({ path: join(IMAGES, "filtered-answer.png") });
  });
});
