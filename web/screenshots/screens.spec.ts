// Every screen, narrow and wide, light and dark, to be looked at critically: test-results/screens.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { ask, expect, test } from "../e2e/fixtures";

const FOLDER = join(import.meta.dirname, "../test-results/screens");
const LOAN = "What is the maximum loan size for first-time borrowers?";
const SIZES = { narrow: { width: 360, height: 740 }, wide: { width: 1440, height: 900 } };

mkdirSync(FOLDER, { recursive: true });

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test.describe(`${size} ${colorScheme}`, () => {
      test.use({ viewport, colorScheme });

      test("all screens", async ({ home: page, server, samples }) => {
        const shoot = async (name: string): Promise<void> => {
          await page.waitForLoadState("networkidle");
          await page.screenshot({ path: join(FOLDER, `${name}-${size}-${colorScheme}.png`) });
        };
        const visit = async (address: string): Promise<void> => {
          await page.goto(server.address + address);
          await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
        };
        const idOf = (name: string): string => samples.find(({ filename }) => filename === name)?.id ?? "";
        await expect(
          page.getByRole("list", { name: "Questions from your files" }).getByRole("button").first(),
        ).toBeVisible();
        await shoot("welcome");
        const reply = await ask(page, LOAN);
        await shoot("answer");
        await reply
          .getByRole("button", { name: /^Source 1/ })
          .first()
          .click();
        await expect(page.locator(".pdf-mark").first()).toBeVisible();
        await shoot("viewer-pdf");
        await page.keyboard.press("Escape");
        await page.goto(server.address);
        await showTable(page);
        await shoot("viewer-sheet");
        await page.goto(server.address);
        const none = await ask(page, "What is the melting point of tungsten?");
        await none.getByRole("button", { name: /^Closest/ }).click();
        await expect(page.locator(".nearest-text").first()).not.toBeEmpty();
        await shoot("nearest");
        await visit("/library");
        await shoot("library");
        await visit(`/library/${idOf("Program Handbook.pdf")}`);
        await shoot("file");
        await page.getByRole("tab", { name: "Contents" }).click();
        await expect(page.locator(".item").first()).toBeVisible();
        await shoot("file-contents");
        await visit(`/library/${idOf("Finance Sheet.xlsx")}`);
        await page.getByRole("tab", { name: "Columns" }).click();
        await expect(page.locator(".histogram-bar, .frequent li").first()).toBeVisible();
        await shoot("file-columns");
        await visit("/playground");
        await page.getByRole("searchbox", { name: "Search for words or ask a question" }).fill("interest per month");
        await page.keyboard.press("Enter");
        await expect(page.getByRole("list", { name: "Results" }).locator(".hit").first()).toBeVisible();
        await shoot("search");
        await visit("/settings");
        await expect(page.locator(".finding").first()).toBeVisible();
        await shoot("settings");
        await page.evaluate(() => document.querySelector(".index")?.scrollIntoView({ block: "start" }));
        await shoot("settings-below");
        await page.goto(server.address);
        await page.getByRole("button", { name: "Attach or filter" }).click();
        await page.getByRole("menuitem", { name: "Upload files" }).click();
        await page.locator("summary").click();
        await shoot("upload");
      });
    });
  }
}

async function showTable(page: Page): Promise<void> {
  const reply = await ask(page, "Which quarter had the highest expenses?");
  await reply
    .getByRole("button", { name: /Finance Sheet\.xlsx/ })
    .first()
    .click();
  await expect(page.locator(".grid-row[data-marked]")).toBeVisible();
}
