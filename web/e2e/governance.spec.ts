// What an administrator sees in a real browser: the audit log, one's own and everybody's, narrowed and exported.
import { readFile } from "node:fs/promises";
import { expect, test } from "./fixtures";
import { Server } from "./server";

const PASSWORD = "correct horse battery staple";
let server: Server;

test.beforeAll(async () => {
  test.setTimeout(300_000);
  server = new Server({ CITEWELL_AUTH_SECRET: undefined, CITEWELL_ACCOUNTS: "on", CITEWELL_SIGN_UP: "open" });
  await server.start();
  for (const name of ["ada", "ben"]) {
    const response = await fetch(`${server.address}/account`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: `${name}@example.org`, name, password: PASSWORD }),
    });
    expect(response.status).toBe(201);
  }
});

test.afterAll(async () => {
  await server.remove();
});

test("the audit log shows what was done, to whom it concerns", async ({ browser }) => {
  test.setTimeout(300_000);
  const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
  await page.goto(server.address);
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  const log = page.getByRole("region", { name: "Audit log" }).first();
  await expect(log.getByRole("cell", { name: "Sign-in", exact: true })).toHaveCount(1);
  await expect(log.getByRole("cell", { name: "Account created", exact: true })).toHaveCount(1);
  await expect(log.getByRole("cell", { name: /^ben/ })).toHaveCount(0);
  await log.getByLabel("Everybody’s").check();
  await expect(log.getByRole("cell", { name: /^ben/ })).toHaveCount(1);
  await log.getByLabel("Show").selectOption("Account created");
  await expect(log.getByRole("cell", { name: "Sign-in", exact: true })).toHaveCount(0);
  await expect(log.getByRole("cell", { name: "Account created", exact: true })).toHaveCount(2);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    log.getByRole("link", { name: "Export CSV" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(lines[0]).toContain("number,at,owner_id,actor");
  expect(lines.filter((line) => line.includes("account.created"))).toHaveLength(2);
});
