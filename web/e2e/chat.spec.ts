import { ask, expect, question, serious, test } from "./fixtures";

const LOAN = "What is the maximum loan size for first-time borrowers?";

test("an answer streams in, and its citation opens the page with the very words marked", { tag: "@journey" }, async ({
  home: page,
}) => {
  const reply = await ask(page, LOAN);
  await expect(reply).toContainText("GHS 5,000");
  const chip = reply.getByRole("button", { name: "Source 1: Loan Policy.pdf, page 3", exact: true }).first();
  await expect(chip).toHaveText("1");
  await chip.hover();
  await expect(page.locator(".passage mark")).toContainText("A first-time borrower may receive at most GHS 5,000");
  await chip.click();
  const sheet = page.getByRole("group", { name: "Page 3" });
  await expect(sheet.locator(".pdf-mark").first()).toBeInViewport();
  const words = sheet.locator(".textLayer span", { hasText: "GHS 5,000" }).first();
  await expect(words).toBeAttached();
  const covered = await sheet.locator(".pdf-mark").evaluateAll((marks, text) => {
    const span = [...document.querySelectorAll("[data-page='3'] .textLayer span")].find((found) =>
      found.textContent?.includes(text),
    );
    const inner = span?.getBoundingClientRect();
    if (!inner) return 0;
    const shares = marks.map((mark) => {
      const outer = mark.getBoundingClientRect();
      const width = Math.min(inner.right, outer.right) - Math.max(inner.left, outer.left);
      const height = Math.min(inner.bottom, outer.bottom) - Math.max(inner.top, outer.top);
      return (Math.max(0, width) * Math.max(0, height)) / (inner.width * inner.height);
    });
    return Math.max(...shares);
  }, "GHS 5,000");
  expect(covered).toBeGreaterThan(0.8);
});

test("a chip has its card on keyboard focus, and the sources below lead to the same place", async ({ home: page }) => {
  const reply = await ask(page, LOAN);
  const chip = reply.getByRole("button", { name: /^Source 1:/ }).first();
  await page.keyboard.press("Shift+Tab");
  await chip.focus();
  await expect(page.locator(".passage")).toContainText("Loan Policy.pdf");
  await expect(page.locator(".passage")).toContainText("page 3");
  await expect(page.locator(".passage mark")).toContainText("A first-time borrower may receive at most GHS 5,000");
  const sources = reply.getByRole("list", { name: "Sources" });
  await expect(sources.getByRole("listitem").first()).toHaveText(/1\s*Loan Policy\.pdf\s*page 3/);
  await sources.getByRole("button").first().click();
  await expect(page.getByRole("group", { name: "Page 3" }).locator(".pdf-mark").first()).toBeInViewport();
});

test("a question about data opens the sheet at the cited cell", { tag: "@journey" }, async ({ home: page }) => {
  const reply = await ask(page, "Which quarter had the highest expenses?");
  await reply
    .getByRole("button", { name: /Source 1: Finance Sheet\.xlsx, Revenue by quarter, row 5, Expenses/ })
    .click();
  const row = page.locator(".grid-row[data-marked]");
  await expect(row).toBeInViewport();
  await expect(row).toContainText("Q4 2025");
  const cell = row.locator("[data-cited]");
  await expect(cell).toHaveText("82,750");
  await expect(cell).toBeInViewport({ ratio: 0.9 });
  await page.keyboard.press("Escape");
  await expect(page.getByRole("complementary", { name: "Source" })).toBeHidden();
});

test("a picture is drawn when asked for, has its figures as a table that leads to the rows, and is there again later", async ({
  home: page,
}) => {
  const reply = await ask(page, "Plot revenue and expenses by quarter");
  const chart = reply.getByRole("img", { name: "Revenue (GHS) and Expenses (GHS) by Quarter" });
  await expect(chart).toBeVisible();
  await expect(chart).toHaveAccessibleDescription(/Highest: Q4 2025, Revenue/);
  await expect(chart.locator(".picture-bar")).toHaveCount(8);
  expect(await serious(page)).toEqual([]);
  await page.reload();
  await expect(chart).toBeVisible();
  await reply.getByRole("button", { name: "Show as a table" }).click();
  const row = reply.getByRole("row").filter({ hasText: "82,750" });
  await expect(row).toContainText("Q4 2025");
  expect(await serious(page)).toEqual([]);
  await row.getByRole("button", { name: "row 5" }).click();
  await expect(page.locator(".grid-row[data-marked]")).toContainText("Q4 2025");
});

test("a picture that nobody asked for is offered, and marks what the answer names", async ({ home: page }) => {
  const reply = await ask(page, "Which quarter had the highest expenses?");
  await expect(reply.getByRole("img")).toHaveCount(0);
  await reply.getByRole("button", { name: "Show chart: Expenses (GHS) by Quarter" }).click();
  await expect(reply.locator(".picture-bar")).toHaveCount(4);
  await expect(reply.locator(".picture-bar[data-named]")).toHaveCount(1);
});

test("words selected in a source can be asked about", async ({ home: page }) => {
  const reply = await ask(page, LOAN);
  await reply
    .getByRole("button", { name: /^Source 1/ })
    .first()
    .click();
  const words = page
    .getByRole("group", { name: "Page 3" })
    .locator(".textLayer span", { hasText: "GHS 5,000" })
    .first();
  await words.dblclick();
  await page.getByRole("button", { name: "Ask about this" }).click();
  await expect(question(page)).toHaveValue(/^About “.+”: $/);
});

test("a tagged document narrows the answer; its × returns to all documents, in the same thread", async ({
  home: page,
}) => {
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Select a document" }).click();
  await page.getByRole("combobox").fill("growth");
  await expect(page.getByRole("option")).toHaveText([/Growth Plan/]);
  await page.keyboard.press("Enter");
  await ask(page, "What is the maximum loan size?");
  const address = page.url();
  for (const chip of await page.getByRole("button", { name: /^Source \d/ }).all()) {
    expect(await chip.getAttribute("aria-label")).toContain("Growth Plan.docx");
  }
  await page.getByRole("button", { name: "Remove Growth Plan.docx: answer from all documents" }).click();
  const reply = await ask(page, LOAN);
  await expect(reply.getByRole("button", { name: /Loan Policy\.pdf/ }).first()).toBeVisible();
  expect(page.url()).toBe(address);
});

test("an answer can be copied, rated and asked for again", { tag: "@journey" }, async ({ home: page }) => {
  const reply = await ask(page, LOAN);
  await reply.getByRole("button", { name: "Copy with citations" }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toContain("[1] Loan Policy.pdf (p. 3): “A first-time borrower");
  await reply.getByRole("button", { name: "Good answer" }).click();
  await expect(page.getByText("Thanks for your feedback.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("button", { name: "Good answer" })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Regenerate answer" }).click();
  await expect(page.getByRole("button", { name: "Good answer" })).toHaveAttribute("aria-pressed", "false");
  await expect(page.getByRole("article", { name: "You asked" })).toHaveCount(1);
});

test("a chat is found, renamed, exported and deleted", { tag: "@journey" }, async ({ home: page }) => {
  await ask(page, "How do group meetings work in the handbook?");
  const threads = page.getByRole("region", { name: "Chats" });
  const menu = (title: string) => threads.getByRole("button", { name: `Options for ${title}` });
  await menu("How do group meetings work in the handbook?").click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByLabel("Title").fill("Meetings, renamed");
  await page.getByRole("button", { name: "Save" }).click();
  await threads.getByRole("searchbox").fill("renamed");
  await expect(threads.getByRole("link")).toHaveText(["Meetings, renamed"]);
  const download = page.waitForEvent("download");
  await menu("Meetings, renamed").click();
  await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
  expect((await download).suggestedFilename()).toBe("Meetings, renamed.md");
  await menu("Meetings, renamed").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(threads.getByRole("link")).toHaveCount(0);
  await expect(page.getByRole("heading", { name: "What would you like to know?" })).toBeVisible();
});

test("a chat works by keyboard alone", { tag: "@journey" }, async ({ home: page }) => {
  await expect(question(page)).toBeFocused();
  await page.keyboard.type(LOAN);
  await page.keyboard.press("Enter");
  const chip = page.getByRole("button", { name: /^Source 1/ }).first();
  await expect(chip).toBeVisible();
  for (
    let presses = 0;
    presses < 60 && !(await chip.evaluate((element) => element === document.activeElement));
    presses += 1
  ) {
    await page.keyboard.press("Shift+Tab");
  }
  await expect(chip).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator(".pdf-mark").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new chat");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "What would you like to know?" })).toBeVisible();
  await page.keyboard.press("Control+k");
  const highlighted = page.locator("[role=option][data-highlighted]");
  await expect(highlighted).toContainText("New chat");
  await expect(page.getByRole("dialog").getByRole("combobox")).toBeFocused();
  // The highlight stays on its entry while chats and files arrive.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(highlighted).toContainText("Library");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Library" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("menus open, move and close by keyboard, the first time too", async ({ home: page }) => {
  const button = page.getByRole("button", { name: "Attach or filter" });
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Upload files" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menu")).toBeHidden();
  await expect(button).toBeFocused();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Select a project" }).press("Enter");
  await expect(page.getByRole("combobox", { name: "Select a project" })).toBeFocused();
});
