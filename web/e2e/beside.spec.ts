// A source beside its answer, over it where there is no room, and the card of a citation.
import { execFileSync } from "node:child_process";
import { ask, expect, question, ready, test } from "./fixtures";
import { PYTHON } from "./server";

const LOAN = "What is the maximum loan size for first-time borrowers?";

/** 120 pages with one line each, the sentence at the end of page 88. */
const MANUAL = `
import io, sys
from reportlab.pdfgen.canvas import Canvas
out = io.BytesIO()
canvas = Canvas(out)
for page in range(1, 121):
    canvas.drawString(72, 760, f"Pump {page} is inspected by the plumber.")
    if page == 88:
        canvas.drawString(72, 90, "The relief valve RV-8841 opens at a pressure of 17.4 bar.")
    canvas.showPage()
canvas.save()
sys.stdout.buffer.write(out.getvalue())
`;

test("a source covers its screen on a phone, and going back closes it and nothing else", async ({ home: page }) => {
  const viewport = { width: 375, height: 740 };
  await page.setViewportSize(viewport);
  const reply = await ask(page, LOAN);
  const conversation = page.url();
  const shown = reply.getByRole("list", { name: "Sources" }).getByRole("button").first();
  const source = page.getByRole("complementary", { name: "Source" });
  await shown.click();
  await expect(source).toBeFocused();
  expect((await source.boundingBox())?.width).toBeGreaterThanOrEqual(viewport.width);
  await page.goBack();
  await expect(source).toBeHidden();
  await expect(shown).toBeFocused();
  expect(page.url()).toBe(conversation);
  await expect(reply).toBeVisible();

  // One that is closed by its button leaves nothing to go back over.
  await shown.click();
  await source.getByRole("button", { name: "Close source" }).click();
  await expect(source).toBeHidden();
  await page.goBack();
  await expect(page).not.toHaveURL(conversation);
  await page.goForward();
  await shown.click();
  await source.getByRole("button", { name: "Open in library" }).click();
  await expect(page).toHaveURL(/\/library\//);
  await page.goBack();
  await expect(page).toHaveURL(conversation);
  await expect(source).toBeHidden();
});

test("a source is under the chat on a tablet, and both are in sight", async ({ home: page }) => {
  await page.setViewportSize({ width: 820, height: 1180 });
  const reply = await ask(page, LOAN);
  await reply.getByRole("list", { name: "Sources" }).getByRole("button").first().click();
  await expect(page.locator(".pdf-mark").first()).toBeInViewport();
  await expect(question(page)).toBeInViewport({ ratio: 1 });
});

test("a source that is closed with the keyboard gives the focus back to what opened it", async ({ home: page }) => {
  const reply = await ask(page, LOAN);
  const shown = reply.getByRole("list", { name: "Sources" }).getByRole("button").first();
  await shown.press("Enter");
  const source = page.getByRole("complementary", { name: "Source" });
  await source.getByRole("separator").focus();
  await page.keyboard.press("Escape");
  await expect(source).toBeHidden();
  await expect(shown).toBeFocused();
});

test.describe("with a finger and less motion", () => {
  test.use({ viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true });

  test("a long PDF opens at the page that is cited", async ({ home: page, server }) => {
    const form = new FormData();
    form.set("file", new Blob([execFileSync(PYTHON, ["-c", MANUAL])]), "manual.pdf");
    await server.call("POST", "/ingest", form);
    await ready(server);
    const reply = await ask(page, "At what pressure does the valve RV-8841 open?");
    await reply.getByRole("button", { name: /^Source 1: manual\.pdf, page 88/ }).tap();
    await page.getByText("Open the source").tap();
    const source = page.getByRole("complementary", { name: "Source" });
    await expect(source.locator(".pdf-mark").first()).toBeInViewport();
    await expect(source.getByRole("button", { name: "Back to the passage" })).toBeHidden();
    await source.getByRole("document").evaluate((pages) => pages.scrollTo(0, 0));
    await source.getByRole("button", { name: "Back to the passage" }).tap();
    await expect(source.locator(".pdf-mark").first()).toBeInViewport();
  });
});

test("a dialog that a menu opened gives the focus back to the menu's button", async ({ home: page }) => {
  const more = page.getByRole("button", { name: "Attach or filter" });
  await more.press("Enter");
  await page.getByRole("menuitem", { name: "Upload files" }).press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(more).toBeFocused();
});

test("who has tagged a document goes on with the question", async ({ home: page }) => {
  await page.getByRole("button", { name: "Attach or filter" }).press("Enter");
  await page.getByRole("menuitem", { name: "Select a document" }).press("Enter");
  await page.getByRole("combobox", { name: "Select a document" }).fill("loan");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Remove Loan Policy.pdf: answer from all documents" })).toBeVisible();
  await expect(question(page)).toBeFocused();
});

test("nothing of the library is cut off on a tablet", async ({ home: page, server }) => {
  await page.setViewportSize({ width: 768, height: 1024 });
  await page.goto(`${server.address}/library`);
  const menu = page.getByRole("button", { name: "Options for Loan Policy.pdf" });
  await expect(menu).toBeInViewport({ ratio: 1 });
});

test("the card of a citation shows the words that it quotes, however far down they are", async ({
  home: page,
  server,
}) => {
  const lines = Array.from({ length: 30 }, (_, at) => `Shelf ${at + 1} of the depot holds spare parts for looms.`);
  const form = new FormData();
  form.set("file", new Blob([`${lines.join(" ")} The caretaker of the depot is Mrs Quaye.\n`]), "depot.txt");
  await server.call("POST", "/ingest", form);
  await ready(server);
  const reply = await ask(page, "Who is the caretaker of the depot?");
  await reply.getByRole("button", { name: /^Source 1/ }).hover();
  const card = page.locator(".passage");
  await expect(card.locator(".passage-text")).toContainText("Shelf 20");
  await expect(card.locator("mark")).toContainText("Mrs Quaye");
  await expect(card.locator("mark")).toBeInViewport({ ratio: 1 });
});
