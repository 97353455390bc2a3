// From the link of a fresh server to the first cited answer about one's own PDF: how long, and how many actions.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { question } from "../e2e/fixtures";
import { Server } from "../e2e/server";
import { report } from "./measuring";

const PDF = process.env.PDF ?? join(import.meta.dirname, "../../samples/Program Handbook.pdf");
const QUESTION = process.env.QUESTION ?? "How do group meetings work?";

test("from the link to the first cited answer about one's own PDF", async ({ page }) => {
  const server = new Server();
  const started = Date.now();
  await server.start();
  report("the server was ready after", { seconds: (Date.now() - started) / 1_000 });
  try {
    const began = Date.now();
    const passed = (): number => (Date.now() - began) / 1_000;
    // First action: open the link.
    await page.goto(server.link);
    await expect(question(page)).toBeVisible();
    const shown = passed();
    // Second action: drop the file on the page, and confirm.
    const base64 = readFileSync(PDF).toString("base64");
    const transfer = await page.evaluateHandle((content) => {
      const data = new DataTransfer();
      data.items.add(
        new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], "My own.pdf", {
          type: "application/pdf",
        }),
      );
      return data;
    }, base64);
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await page.getByRole("dialog").getByRole("button", { name: "Add 1 file" }).click();
    await expect(page.getByRole("region", { name: "Uploads" })).toContainText("All files are ready");
    const read = passed();
    // Third action: ask.
    await question(page).fill(QUESTION);
    await question(page).press("Enter");
    await expect(page.getByRole("button", { name: /^Source 1: My own\.pdf/ }).first()).toBeVisible();
    const answered = passed();
    report("seconds after the link was opened", { shown, read, answered });
    expect(answered).toBeLessThan(60);
  } finally {
    await server.remove();
  }
});
