// People with accounts in a real browser: signing in and up, with a password and with a provider; members, keys, and signing out everywhere.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { expect, question, serious, test } from "./fixtures";
import { Server } from "./server";

const ROOT = join(import.meta.dirname, "../..");
const PYTHON = process.env.CITEWELL_PYTHON ?? join(ROOT, ".venv/bin/python");
const PASSWORD = "correct horse battery staple";
const PROVIDER = `
import sys
from tests.contract_servers.openid import OpenIdServer, openid_server
person = {"sub": "grace", "email": "grace@example.org", "email_verified": True, "name": "Grace"}
with openid_server(OpenIdServer(person=person)) as provider:
    print(provider.issuer, flush=True)
    sys.stdin.read()
`;

const MAIL = `
from tests.contract_servers.smtp import MailServer, mail_server
with mail_server(MailServer()) as mail:
    print(mail.port, flush=True)
    text = mail.wait("ada@example.org", seconds=300)[0].message.get_content()
    print(next(line for line in text.splitlines() if "#reset=" in line), flush=True)
`;

let provider: ChildProcess;
let mail: ChildProcess;
let server: Server;

function running(program: string): ChildProcess {
  return spawn(PYTHON, ["-c", program], { cwd: ROOT, env: { ...process.env, PYTHONPATH: ROOT } });
}

/** What a program prints next. */
function line(program: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    program.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim()));
    program.once("exit", () => reject(new Error("it ended")));
  });
}

test.beforeAll(async () => {
  test.setTimeout(120_000);
  provider = running(PROVIDER);
  mail = running(MAIL);
  const [issuer, port] = await Promise.all([line(provider), line(mail)]);
  server = new Server({
    CITEWELL_AUTH_SECRET: undefined,
    CITEWELL_ACCOUNTS: "on",
    CITEWELL_OIDC_ISSUER: issuer,
    CITEWELL_OIDC_CLIENT_ID: "citewell",
    CITEWELL_OIDC_CLIENT_SECRET: "the client's secret, which only the server has",
    CITEWELL_OIDC_NAME: "Example ID",
    CITEWELL_SMTP_URL: `smtp://127.0.0.1:${port}`,
    CITEWELL_MAIL_FROM: "citewell@example.org",
    CITEWELL_PUBLIC_URL: "http://localhost",
  });
  await server.start();
  const response = await fetch(`${server.address}/account`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "ada@example.org", name: "Ada", password: PASSWORD }),
  });
  expect(response.status).toBe(201);
});

test.afterAll(async () => {
  for (const program of [provider, mail]) {
    program.removeAllListeners("exit");
    program.kill();
  }
  await server.remove();
});

async function visitor(browser: Browser, path = "/"): Promise<Page> {
  const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
  await page.goto(server.address + path);
  return page;
}

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function ada(browser: Browser): Promise<Page> {
  const page = await visitor(browser);
  await signIn(page, "ada@example.org");
  await expect(question(page)).toBeVisible();
  return page;
}

/** The link of an invitation by whoever is signed in there, to their first project. */
async function invite(page: Page, role: "Viewer" | "Editor"): Promise<string> {
  await page.goto(`${server.address}/settings`);
  await page.getByRole("region", { name: "Members" }).getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Role").selectOption(role);
  await dialog.getByRole("button", { name: "Invite" }).click();
  const link = await dialog.getByLabel("Invitation link").inputValue();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  return link.replace(server.address, "");
}

test("one signs in with a password, stays signed in, and signs out everywhere", { tag: "@journey" }, async ({
  browser,
}) => {
  const page = await visitor(browser);
  expect(await serious(page)).toEqual([]);
  await signIn(page, "ada@example.org", "not the password at all");
  await expect(page.getByRole("alert")).toContainText("Incorrect");
  await signIn(page, "ada@example.org");
  await expect(question(page)).toBeVisible();
  expect(await page.evaluate(() => document.cookie)).toBe("");

  // The access token expires; the refresh token goes on.
  const context = page.context();
  const access = (await context.cookies()).filter(({ path }) => path === "/");
  expect(access).toHaveLength(1);
  await context.clearCookies({ path: "/" });
  await page.goto(`${server.address}/settings`);
  await expect(page.getByRole("region", { name: "Your account" })).toContainText("ada@example.org");

  const elsewhere = await ada(browser);
  await elsewhere.goto(`${server.address}/settings`);
  await elsewhere.getByRole("button", { name: "Sign out everywhere" }).click();
  await elsewhere.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await expect(elsewhere.getByRole("button", { name: "Sign in", exact: true })).toBeVisible();
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole("button", { name: "Sign in", exact: true })).toBeVisible({ timeout: 1_000 });
  }).toPass();
});

test("who is invited makes an account, becomes a member, and is removed", async ({ browser }) => {
  const owner = await ada(browser);
  const link = await invite(owner, "Editor");
  const guest = await visitor(browser, link);
  expect(guest.url()).toBe(`${server.address}/`);
  await guest.getByLabel("E-mail address").fill("ben@example.org");
  await guest.getByLabel("Name").fill("Ben");
  await guest.getByLabel("Password").fill(PASSWORD);
  await guest.getByRole("button", { name: "Create account" }).click();
  await expect(question(guest)).toBeVisible();
  await expect(guest.getByRole("dialog")).toHaveCount(0);
  await guest.goto(`${server.address}/settings`);
  await expect(guest.getByRole("button", { name: /^Leave / })).toBeVisible();

  await owner.reload();
  const role = owner.getByLabel("Role of Ben");
  await expect(role).toHaveValue("editor");
  await role.selectOption("viewer");
  await owner.reload();
  await expect(role).toHaveValue("viewer");
  expect(await serious(owner)).toEqual([]);
  await owner.getByRole("button", { name: "Remove Ben" }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(role).toHaveCount(0);
  await guest.reload();
  await expect(guest.getByRole("region", { name: "Members" })).toBeVisible();
  await expect(guest.getByRole("button", { name: /^Leave / })).toHaveCount(0);
});

test("a provider lets in who is invited, and the second link is accepted by who is signed in", async ({ browser }) => {
  const owner = await ada(browser);
  const stranger = await visitor(browser);
  await stranger.getByRole("button", { name: "Continue with Example ID" }).click();
  await expect(stranger.getByRole("alert")).toContainText("You need a valid invitation");
  expect(stranger.url()).toBe(`${server.address}/`);

  const grace = await visitor(browser, await invite(owner, "Viewer"));
  await grace.getByRole("button", { name: "Continue with Example ID" }).click();
  await expect(question(grace)).toBeVisible();
  await grace.goto(`${server.address}/settings`);
  await expect(grace.getByRole("region", { name: "Your account" })).toContainText("grace@example.org");
  await expect(grace.getByRole("button", { name: /^Leave / })).toBeVisible();
  await grace.getByRole("button", { name: /^Leave / }).click();
  await grace.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await expect(grace.getByRole("button", { name: /^Leave / })).toHaveCount(0);

  await grace.goto("about:blank");
  await grace.goto(server.address + (await invite(owner, "Viewer")));
  await grace.getByRole("button", { name: "Accept" }).click();
  await grace.goto(`${server.address}/settings`);
  await expect(grace.getByRole("button", { name: /^Leave / })).toBeVisible();
});

test("a key for some things is shown once, listed with how it begins, and revoked", async ({ browser }) => {
  const page = await ada(browser);
  await page.goto(`${server.address}/settings`);
  const tokens = page.getByRole("region", { name: "Tokens" });
  await tokens.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("search box");
  for (const scope of ["Write", "Admin"]) await dialog.getByLabel(new RegExp(scope)).uncheck();
  await dialog.getByRole("button", { name: "Create token" }).click();
  const secret = await dialog.getByRole("textbox", { name: "Token", exact: true }).inputValue();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  const status = async (method: string, path: string): Promise<number> =>
    (await fetch(server.address + path, { method, headers: { Authorization: `Bearer ${secret}` } })).status;
  expect(await status("GET", "/projects")).toBe(200);
  expect(await status("GET", "/tokens")).toBe(403);
  await page.reload();
  const row = tokens.getByRole("listitem").filter({ hasText: "search box" });
  await expect(row).toContainText("read, ask");
  await expect(row).toContainText(`${secret.slice(0, 6)}`);
  await expect(row).not.toContainText(secret);
  await row.getByRole("button", { name: /Revoke/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(row).toHaveCount(0);
  await expect(async () => expect(await status("GET", "/projects")).toBe(401)).toPass();
});

test("a service account has keys and projects, and is suspended and deleted", async ({ browser }) => {
  const page = await ada(browser);
  await page.goto(`${server.address}/settings`);
  const card = page.getByRole("region", { name: "Service accounts" });
  await card.getByRole("button", { name: "Create service account" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("night run");
  await dialog.getByRole("button", { name: "Create service account" }).click();
  await expect(card).toContainText("Not in any project");
  await card.getByLabel("Add night run to a project").selectOption({ label: "My files" });
  await expect(card).toContainText("My files (Viewer)");
  await expect(page.getByRole("region", { name: "Members" }).getByLabel("Role of night run")).toHaveValue("viewer");

  await card.getByRole("button", { name: "New key for night run" }).click();
  await dialog.getByLabel("Name").fill("cron");
  await expect(dialog.getByLabel(/^Write/)).not.toBeChecked();
  await dialog.getByRole("button", { name: "New key" }).click();
  const shown = async (label: string): Promise<string> => {
    const secret = await dialog.getByRole("textbox", { name: label, exact: true }).inputValue();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    return secret;
  };
  const first = await shown("Token");
  const status = async (secret: string, path = "/projects"): Promise<number> =>
    (await fetch(server.address + path, { headers: { Authorization: `Bearer ${secret}` } })).status;
  expect(await status(first)).toBe(200);
  expect(await status(first, "/tokens")).toBe(403);
  expect(await serious(page)).toEqual([]);

  await card.getByRole("button", { name: "Rotate cron" }).click();
  await dialog.getByRole("button", { name: "Rotate" }).click();
  const second = await shown("New key");
  expect(second).not.toBe(first);
  await expect(async () => expect(await status(first)).toBe(401)).toPass();
  expect(await status(second)).toBe(200);

  const guest = await visitor(browser);
  await guest.goto(`${server.address}/?token=${second}`);
  await expect(guest.getByRole("button", { name: "Sign in", exact: true })).toBeVisible();

  await card.getByRole("button", { name: "Suspend night run" }).click();
  await expect(card).toContainText("its keys do not work");
  await expect(async () => expect(await status(second)).toBe(401)).toPass();
  await card.getByRole("button", { name: "Reinstate night run" }).click();
  await expect(async () => expect(await status(second)).toBe(200)).toPass();
  await card.getByRole("button", { name: "Delete night run" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(card.getByRole("listitem")).toHaveCount(0);
  await expect(async () => expect(await status(second)).toBe(401)).toPass();
});

test("a forgotten password is replaced with the link that comes by e-mail", async ({ browser }) => {
  const page = await visitor(browser);
  await page.getByRole("button", { name: "Forgot your password?" }).click();
  await page.getByLabel("E-mail address").fill("ada@example.org");
  const link = line(mail);
  await page.getByRole("button", { name: "Send link" }).click();
  await expect(page.getByRole("status")).toContainText("If there is an account for ada@example.org");

  await page.goto("about:blank");
  await page.goto((await link).replace("http://localhost", server.address));
  await expect(page.getByRole("heading", { name: "Set a new password" })).toBeVisible();
  expect(page.url()).toBe(`${server.address}/`);
  expect(await serious(page)).toEqual([]);
  const fresh = "words that nobody has forgotten";
  await page.getByLabel("New password").fill(fresh);
  await page.getByRole("button", { name: "Set a new password" }).click();
  await expect(page.getByRole("status")).toContainText("Sign in with it");
  await signIn(page, "ada@example.org");
  await expect(page.getByRole("alert")).toContainText("Incorrect");
  await signIn(page, "ada@example.org", fresh);
  await expect(question(page)).toBeVisible();
});
