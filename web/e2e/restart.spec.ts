import type { Route } from "@playwright/test";
import { expect, question, test } from "./fixtures";

test("a question and an upload outlive a server that is killed and started again", { tag: "@journey" }, async ({
  home: page,
  server,
}) => {
  await question(page).fill("What is the maximum loan size for first-time borrowers?");
  // The thread is begun, then the power goes while the answer is on its way.
  const asked = page.waitForRequest((request) => request.url().endsWith("/chat"));
  await page.route("**/chat", async (route) => {
    await server.kill();
    await route.continue();
  });
  await question(page).press("Enter");
  await asked;
  await expect(page.getByText("Connection lost")).toBeVisible();
  await page.unroute("**/chat");
  await server.restart();
  const reply = page.getByRole("article", { name: "Answer" }).last();
  await expect(reply.getByRole("button", { name: /Loan Policy\.pdf, page 3/ }).first()).toBeVisible({
    timeout: 60_000,
  });
  await expect(page.getByRole("article", { name: "You asked" })).toHaveCount(1);

  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  const dialog = page.getByRole("dialog");
  const buffer = Buffer.from("The ferry leaves at seven.\n".repeat(40));
  await dialog.getByLabel("Choose files").setInputFiles([{ name: "ferry.txt", mimeType: "text/plain", buffer }]);
  const whileFollowed = async (route: Route): Promise<void> => {
    await server.kill();
    await route.abort();
    await server.restart();
  };
  await page.route("**/events", whileFollowed, { times: 1 });
  await dialog.getByRole("button", { name: "Add 1 file" }).click();
  const row = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  await expect(row).toContainText("Ready", { timeout: 90_000 });
});
