import { expect, question, test } from "./fixtures";

test("the link's token leaves the address at once and becomes a cookie that scripts cannot read", {
  tag: "@journey",
}, async ({ page, context, server }) => {
  await page.goto(`${server.address}/settings?token=${server.token}`);
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  expect(page.url()).toBe(`${server.address}/settings`);
  const cookies = await context.cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(server.token);
});

test("without the link one signs in with a token, and out again", async ({ page, server }) => {
  await page.goto(server.address);
  const token = page.getByLabel("Token");
  await token.fill("cw_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("does not accept");
  await token.fill(server.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(question(page)).toBeVisible();
  await page.reload();
  await expect(question(page)).toBeVisible();
});

test("an address that does not exist says so, and the API's stay errors", async ({ page, server, request }) => {
  await page.goto(server.link);
  await expect(question(page)).toBeVisible();
  await page.goto(`${server.address}/conversations/none`);
  await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  const missing = await request.get(`${server.address}/resources/none`, { headers: { Accept: "text/html" } });
  expect(missing.headers()["content-type"]).toContain("json");
});

test("the first visit offers sample files and, once they are read, questions from them", { tag: "@journey" }, async ({
  page,
  server,
}) => {
  const token = server.tokenOf("a newcomer");
  await page.goto(`${server.address}/?token=${token}`);
  await page.getByRole("button", { name: "Try it with sample files" }).click();
  await expect(page.getByRole("heading", { name: "What would you like to know?" })).toBeVisible();
  const examples = page.getByRole("list", { name: "Questions from your files" }).getByRole("button");
  await expect(examples.first()).toBeVisible({ timeout: 100_000 });
  await examples.first().click();
  await expect(
    page
      .getByRole("article", { name: "Answer" })
      .getByRole("button", { name: /^Source 1/ })
      .first(),
  ).toBeVisible();
});

test("the API's description opens without a violation of the policy, and tries calls as whoever is signed in", async ({
  home: page,
  server,
}) => {
  await page.goto(`${server.address}/docs`);
  await page.locator(".opblock").first().waitFor();
  // Operations are drawn as they come into view.
  const call = page.locator(".opblock").filter({ hasText: /^POST\/projects/ });
  await expect(async () => {
    await page.mouse.wheel(0, 1000);
    await expect(call.first()).toBeVisible({ timeout: 250 });
  }).toPass();
  await call.getByRole("button").first().click();
  await call.getByRole("button", { name: "Try it out" }).click();
  await call.getByRole("textbox").first().fill('{ "name": "From the description" }');
  await call.getByRole("button", { name: "Execute" }).click();
  await expect(call.locator(".live-responses-table tbody .response-col_status").first()).toContainText("201");
});
