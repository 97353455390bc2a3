import type { Locator, Page } from "@playwright/test";
import { ask, expect, type ResourceRow, ready, serious, test } from "./fixtures";
import type { Server } from "./server";

const ROWS = 300;
const COLUMNS = 16;

async function openRows(page: Page, address: string): Promise<Locator> {
  await page.goto(address);
  await page.getByRole("tab", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Show rows" }).click();
  const grid = page.getByRole("grid");
  await expect(grid.getByRole("gridcell").first()).not.toBeEmpty();
  return grid;
}

async function addOrders(server: Server): Promise<string> {
  const names = Array.from({ length: COLUMNS }, (_, column) => `column ${column + 1}`);
  const lines = Array.from({ length: ROWS }, (_, row) =>
    names.map((_, column) => `${row + 1}/${column + 1}`).join(","),
  );
  const form = new FormData();
  form.set("file", new Blob([[names.join(","), ...lines].join("\n")]), "orders.csv");
  const { id } = await server.call<{ id: string }>("POST", "/ingest", form);
  await ready(server);
  return id;
}

test("the cells of a sheet are reached with the keyboard, and scroll into view", async ({ home: page, server }) => {
  const grid = await openRows(page, `${server.address}/library/${await addOrders(server)}`);
  await expect(grid).toHaveAttribute("aria-rowcount", String(ROWS + 1));
  await expect(grid).toHaveAttribute("aria-colcount", String(COLUMNS + 1));
  const focused = grid.locator(":focus");
  const press = async (keys: string, text: string | RegExp): Promise<void> => {
    await page.keyboard.press(keys);
    await expect(focused).toHaveText(text);
    await expect(focused).toBeInViewport({ ratio: 0.9 });
  };

  // One tab stop, however many cells there are.
  await expect(grid.locator("[tabindex='0']")).toHaveCount(1);
  await page.getByRole("button", { name: "Close source" }).focus();
  await press("Tab", "1/1");
  await press("ArrowDown", "2/1");
  await press("ArrowRight", "2/2");
  await press("End", `2/${COLUMNS}`);
  await press("Control+End", `${ROWS}/${COLUMNS}`);
  await press("Home", String(ROWS + 1));
  await press("ArrowRight", `${ROWS}/1`);
  await press("PageUp", /^2\d\d\/1$/);
  await press("Control+Home", "Row");
  await press("ArrowRight", "column 1");
  await press("ArrowDown", "1/1");
  await press("Control+ArrowDown", `${ROWS}/1`);
  await expect(focused).toHaveAttribute("aria-colindex", "2");
  await expect(grid.getByRole("row").filter({ has: page.locator(":focus") })).toHaveAttribute(
    "aria-rowindex",
    String(ROWS + 1),
  );
  expect(await serious(page)).toEqual([]);

  // The focus stays with its cell while one scrolls elsewhere, and the next key returns to it.
  await grid.evaluate((element) => element.scrollTo({ top: 0 }));
  await expect(grid.getByRole("gridcell", { name: "3/1", exact: true })).toBeInViewport();
  await expect(focused).toHaveText(`${ROWS}/1`);
  await press("ArrowUp", `${ROWS - 1}/1`);

  // A click moves it too; Shift+Tab leaves the grid at once.
  await grid.getByRole("gridcell", { name: `${ROWS - 3}/2`, exact: true }).click();
  await press("ArrowDown", `${ROWS - 2}/2`);
  await page.keyboard.press("Shift+Tab");
  await expect(grid.locator(":focus")).toHaveCount(0);
  expect(await grid.getByRole("row").count()).toBeLessThan(120);
});

test("the sheets of a workbook are tabs: arrows change them, and each labels its rows", async ({
  home: page,
  server,
  samples,
}) => {
  const workbook = samples.find(({ filename }: ResourceRow) => filename === "Finance Sheet.xlsx");
  const grid = await openRows(page, `${server.address}/library/${workbook?.id}`);
  const tabs = page.getByRole("tablist", { name: "Sheet" }).getByRole("tab");
  const names = await tabs.allTextContents();
  expect(names.length).toBeGreaterThan(1);
  await tabs.first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(tabs.nth(1)).toBeFocused();
  await expect(tabs.nth(1)).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("tabpanel", { name: names[1] ?? "" })).toBeVisible();
  await expect(grid).toHaveAccessibleName(names[1] ?? "");
  await page.keyboard.press("End");
  await expect(grid).toHaveAccessibleName(names.at(-1) ?? "");
  await page.keyboard.press("ArrowRight");
  await expect(grid).toHaveAccessibleName(names[0] ?? "");
  expect(await serious(page)).toEqual([]);
});

test("a figure from a table of a PDF opens with its cell marked inside its row", async ({ home: page, samples }) => {
  expect(samples.map(({ filename }) => filename)).toContain("Loan Policy.pdf");
  const reply = await ask(page, "What is the longest term of a second and third loan?");
  await expect(reply).toContainText("Longest term for second and third loan: 24 weeks");
  await reply
    .getByRole("button", { name: /^Source 1: Loan Policy\.pdf/ })
    .first()
    .click();
  const cell = page.locator(".pdf-cell");
  await expect(cell).toHaveCount(1);
  await expect(cell).toBeInViewport({ ratio: 0.9 });
  const row = page.locator(".pdf-mark[data-around]");
  await expect(row).toHaveCount(1);
  const [inner, outer] = [await cell.boundingBox(), await row.boundingBox()];
  if (!inner || !outer) throw new Error("nothing is marked");
  expect(inner.width).toBeLessThan(outer.width / 3);
  expect(inner.x).toBeGreaterThan(outer.x + outer.width / 4);
  expect(inner.x + inner.width).toBeLessThan(outer.x + outer.width);
  expect(Math.abs(inner.y - outer.y)).toBeLessThan(4);
  // What is under the mark is the figure: the words of the page are laid over it.
  const middle = { x: inner.x + inner.width / 2, y: inner.y + inner.height / 2 };
  await expect
    .poll(() => page.evaluate(({ x, y }) => document.elementFromPoint(x, y)?.textContent, middle))
    .toContain("24 weeks");
  expect(await serious(page)).toEqual([]);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 780 }, hasTouch: true });

  test("a tap shows the card, and its source scrolls to the cited cell of a wide sheet", async ({
    home: page,
    server,
  }) => {
    const months = Array.from({ length: 14 }, (_, month) => `2031 month ${month + 1}`);
    const lines = Array.from({ length: 80 }, (_, row) =>
      [`Depot ${row + 1}`, ...months.map((_, month) => 100 + row + month), row === 70 ? 9_000 : 40 + row].join(","),
    );
    const form = new FormData();
    const text = [["Depot", ...months, "Breakages"].join(","), ...lines].join("\n");
    form.set("file", new Blob([text]), "depots.csv");
    await server.call("POST", "/ingest", form);
    await ready(server);
    const reply = await ask(page, "Which depot had the highest breakages?");
    await reply.getByRole("button", { name: "Source 1: depots.csv, row 72, Breakages", exact: true }).tap();
    const card = page.locator(".passage");
    await expect(card).toContainText("depots.csv");
    await expect(card).toContainText("9000");
    await expect(page.getByRole("complementary", { name: "Source" })).toBeHidden();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await card.getByRole("button", { name: "Open the source" }).tap();
    const cell = page.locator(".grid-row[data-marked] [data-cited]");
    await expect(cell).toHaveText("9,000");
    await expect(cell).toBeInViewport({ ratio: 0.9 });
    await expect(page.locator("[data-cited]")).toHaveCount(1);
    // The name of its column is in sight above it.
    await expect(page.getByRole("columnheader", { name: "Breakages" })).toBeInViewport({ ratio: 0.9 });
    expect(await serious(page)).toEqual([]);
  });
});

test("pages of a PDF are no landmarks, and a copied answer and uploads are read out", async ({
  home: page,
  server,
  samples,
}) => {
  const policy = samples.find(({ filename }: ResourceRow) => filename === "Loan Policy.pdf");
  await page.goto(`${server.address}/library/${policy?.id}`);
  await page.getByRole("button", { name: "Open the source" }).click();
  await expect(page.getByRole("group", { name: "Page 1", exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: /^Page \d/ })).toHaveCount(0);

  await page.goto(server.address);
  // A live region speaks only if it was there before its words.
  const notifications = page.getByRole("region", { name: "Notifications" });
  await expect(notifications).toHaveAttribute("aria-live", "polite");
  const reply = await ask(page, "What is the maximum loan size for first-time borrowers?");
  await reply.getByRole("button", { name: "Copy with citations" }).click();
  await expect(notifications).toContainText("Copied with citations");
  const spoken = page.getByRole("status").filter({ hasText: "files are ready" });
  const regions = await page.getByRole("status").count();
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  const dialog = page.getByRole("dialog");
  await dialog
    .getByLabel("Choose files")
    .setInputFiles([{ name: "spoken.txt", mimeType: "text/plain", buffer: Buffer.from("The kiosk opens at nine.") }]);
  await dialog.getByRole("button", { name: "Add 1 file" }).click();
  await expect(spoken).toHaveText("All files are ready", { timeout: 60_000 });
  expect(await page.getByRole("status").count()).toBe(regions);
});

test("a link to a passage, as other programs give it, opens the file with the passage marked", async ({
  home: page,
  server,
}) => {
  const query = { query: "maximum loan size for first-time borrowers", top_k: 1 };
  const { hits } = await server.call<{ hits: { resource_id: string; chunk_id: string }[] }>("POST", "/search", query);
  const [hit] = hits;
  await page.goto(`${server.address}/library/${hit?.resource_id}?passage=${hit?.chunk_id}`);
  const viewer = page.getByRole("complementary", { name: "Source" });
  await expect(viewer.getByRole("heading", { name: "Loan Policy.pdf" })).toBeVisible();
  await expect(viewer.locator("[data-page='3'] .pdf-mark").first()).toBeInViewport();
});
