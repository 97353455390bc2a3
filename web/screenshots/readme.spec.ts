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
