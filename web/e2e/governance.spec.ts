// What an administrator sees in a real browser: the audit log, people with their quotas, suspension; and what everybody may do with their own.
import { readFile } from "node:fs/promises";
import type { Browser, Page } from "@playwright/test";
import { ask, expect, question, ready, serious, test } from "./fixtures";
import { Server } from "./server";

const PASSWORD = "correct horse battery staple";
let server: Server;

test.beforeAll(async () => {
  test.setTimeout(300_000);
  server = new Server({ CITEWELL_AUTH_SECRET: undefined, CITEWELL_ACCOUNTS: "on", CITEWELL_SIGN_UP: "open" });
  await server.start();
  for (const name of ["ada", "ben", "carl"]) {
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

async function signedIn(browser: Browser, name: string, password = PASSWORD): Promise<Page> {
  const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
  await signIn(page, name, password);
  await expect(question(page)).toBeVisible();
  return page;
}

async function signIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.goto(server.address);
  await page.getByLabel("E-mail address").fill(`${name}@example.org`);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

test("the audit log shows what was done, to whom it concerns", async ({ browser }) => {
  test.setTimeout(300_000);
  const page = await signedIn(browser, "ada");
  await page.getByRole("link", { name: "Settings" }).click();
  const log = page.getByRole("region", { name: "Audit log" }).first();
  await expect(log.getByRole("cell", { name: "Sign-in", exact: true })).toHaveCount(1);
  await expect(log.getByRole("cell", { name: "Account created", exact: true })).toHaveCount(1);
  await expect(log.getByRole("cell", { name: /^ben/ })).toHaveCount(0);
  await log.getByLabel("Everyone’s").check();
  await expect(log.getByRole("cell", { name: /^ben/ })).toHaveCount(1);
  await log.getByLabel("Show").selectOption("Account created");
  await expect(log.getByRole("cell", { name: "Sign-in", exact: true })).toHaveCount(0);
  await expect(log.getByRole("cell", { name: "Account created", exact: true })).toHaveCount(3);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    log.getByRole("link", { name: "Export CSV" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(lines[0]).toContain("number,at,owner_id,actor");
  expect(lines.filter((line) => line.includes("account.created"))).toHaveLength(3);
});

test("an administrator limits somebody, suspends them, and lets them in again", async ({ browser }) => {
  test.setTimeout(300_000);
  const ben = await signedIn(browser, "ben");
  await ben.goto(`${server.address}/settings`);
  await expect(ben.getByRole("region", { name: "Audit log" }).first()).toBeVisible();
  await expect(ben.getByRole("region", { name: "People" })).toHaveCount(0);
  await expect(ben.getByRole("region", { name: "Quotas" })).toHaveCount(0);

  const ada = await signedIn(browser, "ada");
  await ada.goto(`${server.address}/settings`);
  const people = ada.getByRole("region", { name: "People" });
  const row = people.getByRole("listitem").filter({ hasText: "ben@example.org" });
  await expect(people.getByRole("button", { name: "Suspend ada" })).toHaveCount(0);
  await row.getByRole("button", { name: "Quotas of ben" }).click();
  const dialog = ada.getByRole("dialog");
  await dialog.getByLabel("Files", { exact: true }).selectOption("own");
  await dialog.getByLabel("Limit: Files").fill("7");
  await dialog.getByLabel("Size of all files (GB)", { exact: true }).selectOption("own");
  await dialog.getByLabel("Limit: Size of all files (GB)").fill("1.5");
  await dialog.getByLabel("Questions per month", { exact: true }).selectOption("none");
  expect(await serious(ada)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  await row.getByRole("button", { name: "Quotas of ben" }).click();
  await expect(dialog.getByLabel("Limit: Files")).toHaveValue("7");
  await expect(dialog.getByLabel("Questions per month", { exact: true })).toHaveValue("none");
  await ada.keyboard.press("Escape");
  await ben.reload();
  const quotas = ben.getByRole("region", { name: "Quotas" });
  await expect(quotas).toContainText("0 of 7");
  await expect(quotas).toContainText("1.5 GB");
  await expect(quotas).not.toContainText("Questions");

  await row.getByRole("button", { name: "Suspend ben" }).click();
  await dialog.getByRole("button", { name: "Suspend" }).click();
  await expect(row).toContainText("suspended");
  await expect(async () => {
    await ben.reload();
    await expect(ben.getByRole("button", { name: "Sign in", exact: true })).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await signIn(ben, "ben");
  await expect(ben.getByRole("alert")).toContainText("Incorrect");
  await row.getByRole("button", { name: "Reinstate ben" }).click();
  await expect(row).not.toContainText("suspended");
  await signIn(ben, "ben");
  await expect(question(ben)).toBeVisible();
});

test("somebody shares an answer, changes the password, takes everything along, and has it erased", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const fresh = "another set of words";
  const carl = await signedIn(browser, "carl");
  const form = new FormData();
  form.set("file", new Blob(["The recipe of the harbour inn needs seven limes and a spoon of smoked salt."]), "inn.md");
  const access = (await carl.context().cookies()).find(({ name }) => !name.endsWith("_refresh"))?.value ?? "";
  await server.call("POST", "/ingest", form, access);
  await ready(server, access);
  const reply = await ask(carl, "How many limes does the recipe of the harbour inn need?");
  await reply.getByRole("button", { name: "Share answer" }).click();
  const dialog = carl.getByRole("dialog");
  await dialog.getByLabel("Expires after").selectOption("1");
  await dialog.getByRole("button", { name: "Create link" }).click();
  const links = [await dialog.getByLabel("Link to the answer").inputValue()];
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await reply.getByRole("button", { name: "Share answer" }).click();
  await dialog.getByRole("button", { name: "Create link" }).click();
  links.push(await dialog.getByLabel("Link to the answer").inputValue());
  await dialog.getByRole("button", { name: "Close" }).last().click();
  const status = async (link: string): Promise<number> => (await fetch(link)).status;
  expect(await Promise.all(links.map(status))).toEqual([200, 200]);

  await carl.goto(`${server.address}/settings`);
  const shares = carl.getByRole("region", { name: "Shared answers" });
  await expect(shares.getByRole("listitem")).toHaveCount(2);
  await expect(shares.getByRole("listitem").first()).toContainText("How many limes");
  await shares
    .getByRole("button", { name: /^Revoke the link/ })
    .first()
    .click();
  await dialog.getByRole("button", { name: "Revoke link" }).click();
  await expect(shares.getByRole("listitem")).toHaveCount(1);
  expect((await Promise.all(links.map(status))).sort()).toEqual([200, 404]);

  const account = carl.getByRole("region", { name: "Your account" });
  await account.getByRole("button", { name: "Change password" }).click();
  await dialog.getByLabel("Current password").fill("not the password at all");
  await dialog.getByLabel("New password").fill(fresh);
  await dialog.getByRole("button", { name: "Change password" }).click();
  await expect(dialog.getByRole("alert")).toContainText("is incorrect");
  await dialog.getByLabel("Current password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Change password" }).click();
  await expect(dialog).toHaveCount(0);
  const elsewhere = await signedIn(browser, "carl", fresh);
  await elsewhere.context().close();

  const data = carl.getByRole("region", { name: "Your data" });
  const [download] = await Promise.all([
    carl.waitForEvent("download"),
    data.getByRole("link", { name: "Export everything" }).click(),
  ]);
  expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe("PK");
  await data.getByRole("button", { name: "Erase everything" }).click();
  await expect(dialog.getByRole("button", { name: "Erase everything" })).toBeDisabled();
  await dialog.getByRole("textbox").fill("erase everything");
  await dialog.getByRole("button", { name: "Erase everything" }).click();
  await expect(dialog).toContainText("found nothing");
  await expect(dialog.getByRole("row").nth(2)).toBeVisible();
  expect(await serious(carl)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await signIn(carl, "carl", fresh);
  await expect(carl.getByRole("alert")).toContainText("Incorrect");
  expect(await Promise.all(links.map(status))).toEqual([404, 404]);
});
