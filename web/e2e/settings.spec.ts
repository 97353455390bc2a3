import { expect, serious, test } from "./fixtures";

test("what is configured and reachable is listed", async ({ home: page, server }) => {
  await page.goto(`${server.address}/settings`);
  const findings = page.locator(".finding");
  await expect(findings.filter({ hasText: "Embeddings" })).toContainText("builtin");
  await expect(findings.filter({ hasText: "Database" })).toContainText("works");
  await expect(page.locator(".index").first()).toContainText("In use");
});

test("a token is shown once, works, and is refused after it was revoked", async ({ home: page, server }) => {
  await page.goto(`${server.address}/settings`);
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create token" });
  await dialog.getByLabel("Name").fill("Nightly job");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const secret = await dialog.getByRole("textbox", { name: "Token" }).inputValue();
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Copy token" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  const status = async (): Promise<number> => (await fetch(`${server.address}/tokens`, { headers: { Authorization: `Bearer ${secret}` } })).status;
  expect(await status()).toBe(200);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("button", { name: "Revoke Nightly job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("Nightly job")).toHaveCount(0);
  expect(await status()).toBe(401);
});

test("the theme stays after the page is loaded again", async ({ home: page, server }) => {
  await page.goto(`${server.address}/settings`);
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
});
