import type { Page } from "@playwright/test";
import { expect, ready, serious, test } from "./fixtures";

const row = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

async function add(
  server: { call: (method: string, path: string, body: FormData) => Promise<unknown> },
  name: string,
  content: string,
): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([content]), name);
  return ((await server.call("POST", "/ingest", form)) as { id: string }).id;
}

test("files are found by name, narrowed by type, and sorted by a column's head", async ({ home: page, server }) => {
  const files = (await ready(server)).map(({ filename }) => filename);
  await page.goto(`${server.address}/library`);
  const table = page.getByRole("table", { name: "Library" });
  await expect(table).toHaveAttribute("aria-rowcount", `${files.length + 1}`);
  await page.getByRole("searchbox", { name: "Search by name" }).fill("loan policy");
  await expect(page.getByRole("row")).toHaveCount(2);
  await expect(row(page, "Loan Policy.pdf")).toContainText("Ready");
  await expect(row(page, "Loan Policy.pdf").locator(".cell-pages")).toHaveText("7 pages");
  await page.getByRole("searchbox", { name: "Search by name" }).fill("");
  await expect(row(page, "Finance Sheet.xlsx").locator(".cell-pages")).toHaveText("3 sheets");
  await page.getByRole("combobox", { name: "Type" }).selectOption("docx");
  await expect(table).toHaveAttribute("aria-rowcount", `${files.filter((name) => name.endsWith(".docx")).length + 1}`);
  await page.getByRole("combobox", { name: "Type" }).selectOption("");
  const head = page.getByRole("columnheader", { name: "Name" });
  await head.getByRole("button").click();
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  const names = files.sort(new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare);
  await expect(page.locator(".library-file .file-link").first()).toHaveText(names[0] ?? "");
  await head.getByRole("button").click();
  await expect(page.locator(".library-file .file-link").first()).toHaveText(names.at(-1) ?? "");
});

test("arrows move from file to file, and Enter opens one", async ({ home: page, server }) => {
  await page.goto(`${server.address}/library`);
  const links = page.locator(".library-file .file-link");
  await links.first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(links.nth(1)).toBeFocused();
  const name = (await links.nth(1).textContent()) ?? "";
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
});

test("several files are deleted at once, with a receipt that counts nothing left", async ({ home: page, server }) => {
  for (const name of ["gone one.txt", "gone two.txt"])
    await add(server, name, `The ${name} says something that nobody needs.`);
  await ready(server);
  await page.goto(`${server.address}/library`);
  for (const name of ["gone one.txt", "gone two.txt"])
    await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  await page.getByRole("toolbar", { name: "Selected files" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  const receipt = page.getByRole("dialog", { name: "Deleted" });
  await expect(receipt.locator(".receipt-line").filter({ hasText: "Files" })).toContainText("2");
  await expect(receipt.locator(".receipt-line").filter({ hasText: "Index entries left" })).toContainText("0");
  expect(await serious(page)).toEqual([]);
  await receipt.getByRole("button", { name: "Close" }).last().click();
  await expect(row(page, "gone one.txt")).toHaveCount(0);
  await expect(row(page, "gone two.txt")).toHaveCount(0);
});

test("a PDF shows its coverage page by page, its timeline, and what was read beside the original", {
  tag: "@journey",
}, async ({ home: page, server, samples }) => {
  const id = samples.find(({ filename }) => filename === "Loan Policy.pdf")?.id;
  await page.goto(`${server.address}/library/${id}`);
  const cells = page.locator(".cover-cell");
  await expect(cells.first()).toHaveAccessibleName(/^Page 1\. Read\./);
  await expect(page.locator(".timeline .stage").last()).toContainText("Ready");
  await page.getByRole("tab", { name: "Contents" }).click();
  await expect(page.locator(".pdf-page").first()).toBeVisible();
  await page.getByRole("group", { name: "Contents" }).getByRole("button", { name: "Passages" }).click();
  await expect(page.locator(".pdf-outline").first()).toBeVisible();
  await page.locator(".item").nth(1).click();
  await expect(page.locator(".pdf-mark").first()).toBeVisible();
  expect(await serious(page)).toEqual([]);
});

test("a data file shows its columns with statistics and histograms", async ({ home: page, server }) => {
  const lines = Array.from(
    { length: 200 },
    (_, index) => `${index},${index % 3 ? "North" : "South"},${(index * 7) % 50}`,
  );
  const id = await add(server, "measures.csv", ["day,region,litres", ...lines].join("\n"));
  await ready(server);
  await page.goto(`${server.address}/library/${id}`);
  await page.getByRole("tab", { name: "Columns" }).click();
  const litres = page.getByRole("listitem").filter({ has: page.getByText("litres", { exact: true }) });
  await expect(litres.locator(".histogram-bar")).toHaveCount(16);
  const region = page.getByRole("listitem").filter({ has: page.getByText("region", { exact: true }) });
  await expect(region.locator(".frequent li").first()).toContainText("North");
  await expect(region.locator(".frequent li").first()).toContainText("133");
  expect(await serious(page)).toEqual([]);
});

test("a file that failed says what is still usable and what to do, and a new version heals it", async ({
  home: page,
  server,
}) => {
  const id = await add(server, "wrong.pdf", "%PDF-1.7\nnothing that a reader could use");
  await ready(server);
  await page.goto(`${server.address}/library/${id}`);
  await expect(page.getByText("What still works")).toBeVisible();
  await expect(page.getByText("You can download the original.")).toBeVisible();
  await expect(page.getByText("What to do")).toBeVisible();
  await page
    .getByLabel("Upload a new version")
    .last()
    .setInputFiles({
      name: "right.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("The new version can be read by anyone."),
    });
  await expect(page.getByRole("heading", { level: 1, name: "right.txt" })).toBeVisible();
  await expect(page.locator(".resource-head .badge")).toHaveText("Ready");
  await expect(page.locator(".versions")).toContainText("Version 1");
});

test("ten thousand files: few rows are drawn, the last is a key away, and typing finds one at once", async ({
  home: page,
  server,
}) => {
  const { resources } = await server.call<{ resources: { created_at: string }[] }>("GET", "/resources?limit=1");
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    ...resources[0],
    id: `file-${index}`,
    filename: `file ${index}.txt`,
    status: "indexed",
  }));
  await page.route(/\/resources\?/, (route) => route.fulfill({ json: { resources: many, next_cursor: null } }));
  await page.goto(`${server.address}/library`);
  await expect(page.getByRole("table", { name: "Library" })).toHaveAttribute("aria-rowcount", "10001");
  expect(await page.locator(".library-file").count()).toBeLessThan(80);
  await page.locator(".library-file .file-link").first().focus();
  await page.keyboard.press("End");
  await expect(page.getByRole("link", { name: "file 9999.txt", exact: true })).toBeFocused();
  await page.getByRole("searchbox", { name: "Search by name" }).fill("4711");
  await expect(page.getByRole("link", { name: "file 4711.txt", exact: true })).toBeVisible();
  await expect(page.locator(".library-file")).toHaveCount(1);
});
