// Narrow and wide, light and dark: the pictures in docs/images.
import { join } from "node:path";
import { ask, expect, test } from "../e2e/fixtures";

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
