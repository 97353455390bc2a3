// The screens of accounts: for the documentation, and all of them narrow and wide, light and dark, to be looked at (test-results/screens).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator, Page } from "@playwright/test";
import { ask, expect, question, test } from "../e2e/fixtures";
import { Server } from "../e2e/server";

const FOLDER = join(import.meta.dirname, "../test-results/screens");
const IMAGES = join(import.meta.dirname, "../../docs/images");
const PASSWORD = "correct horse battery staple";
const RECIPE = "# Recipe\n\nThe recipe of the harbour inn needs seven limes and a spoon of smoked salt.";
const PEOPLE = { ada: "Ada Okafor", ben: "Ben Adler", grace: "Grace Lim" };
const SIZES = { narrow: { width: 390, height: 844 }, wide: { width: 1280, height: 860 } };
const CARDS = [
  "Your account", "Members", "Service accounts", "People", "Tokens", "Quotas", "Shared answers", "Audit log", "Your data",
]; // biome-ignore format: a list of names

let server: Server;
let shared = "";
mkdirSync(FOLDER, { recursive: true });

async function post<T>(path: string, body: unknown, headers: Record<string, string> = {}, method = "POST"): Promise<T> {
  const response = await fetch(server.address + path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
  return (response.status === 204 ? null : await response.json()) as T;
}

test.beforeAll(async ({ browser }) => {
  test.setTimeout(300_000);
  server = new Server({
    CITEWELL_AUTH_SECRET: undefined,
    CITEWELL_ACCOUNTS: "on",
    CITEWELL_SIGN_UP: "open",
    CITEWELL_QUOTA_FILES: "5000",
    CITEWELL_QUOTA_BYTES: "20000000000",
    CITEWELL_QUOTA_QUESTIONS: "300",
  });
  await server.start();
  for (const [who, name] of Object.entries(PEOPLE)) {
    await post("/account", { email: `${who}@example.org`, name, password: PASSWORD });
  }
  const page = await signedIn(browser);
  await page.evaluate(
    async ([text]) => {
      const proof = (await (await fetch("/session")).json()).csrf as string;
      const call = async (path: string, body: unknown, method = "POST"): Promise<Record<string, string>> => {
        const isForm = body instanceof FormData;
        const headers = { "X-CSRF-Token": proof, ...(!isForm && { "Content-Type": "application/json" }) };
        const answer = await fetch(path, { method, headers, body: isForm ? body : JSON.stringify(body) });
        return answer.status === 204 ? {} : answer.json();
      };
      const project = await call("/projects", { name: "Kitchen" });
      const form = new FormData();
      form.set("file", new Blob([text ?? ""]), "harbour inn.md");
      form.set("project", project.id ?? "");
      const file = await call("/ingest", form);
      await (await fetch(`/resources/${file.id}/events`)).text();
      const robot = await call("/service-accounts", { name: "night run" });
      await call(`/projects/${project.id}/members/${robot.owner}`, { role: "viewer" }, "PUT");
      await call(`/service-accounts/${robot.id}/keys`, { name: "cron", days: 90, scopes: ["read", "ask"] });
      await call("/tokens", { name: "search box", days: 90, scopes: ["read", "ask"] });
      await call("/tokens", { name: "backup", scopes: ["read", "admin"] });
      await call("/invitations", { project: project.id, role: "editor", email: "kofi@example.org" });
    },
    [RECIPE],
  );
  const member = await join_(browser, page, "grace@example.org");
  await member.context().close();
  await page.goto(server.address);
  const reply = await ask(page, "How many limes does the recipe of the harbour inn need?");
  await reply.getByRole("button", { name: "Share answer" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create link" }).click();
  shared = await page.getByLabel("Link to the answer").inputValue();
  await page.context().close();
});

test.afterAll(async () => {
  await server.remove();
});

async function signedIn(browser: Browser, email = "ada@example.org", options = {}): Promise<Page> {
  const page = await (await browser.newContext({ reducedMotion: "reduce", ...options })).newPage();
  await page.goto(server.address);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(question(page)).toBeVisible();
  return page;
}

/** Somebody becomes a viewer of the first project of whoever is on the page. */
async function join_(browser: Browser, page: Page, email: string): Promise<Page> {
  await page.goto(`${server.address}/settings`);
  const members = page.getByRole("region", { name: "Members" });
  await members.getByLabel("Project").selectOption({ label: "Kitchen" });
  await members.getByRole("button", { name: "Invite" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const link = await page.getByRole("dialog").getByLabel("Invitation link").inputValue();
  const guest = await signedIn(browser, email);
  await guest.goto("about:blank");
  await guest.goto(link);
  await guest.getByRole("button", { name: "Accept" }).click();
  await expect(guest.getByRole("dialog")).toHaveCount(0);
  return guest;
}

function card(page: Page, name: string): Locator {
  return page.getByRole("region", { name }).first();
}

async function inKitchen(page: Page): Promise<void> {
  await page.goto(`${server.address}/settings`);
  await card(page, "Members").getByLabel("Project").selectOption({ label: "Kitchen" });
  await expect(page.getByLabel("Role of Grace Lim")).toBeVisible();
  await expect(card(page, "Audit log").getByRole("row").nth(3)).toBeVisible();
  await page.waitForLoadState("networkidle");
}

test("pictures for the documentation", async ({ browser }) => {
  test.setTimeout(300_000);
  const options = { viewport: { width: 1280, height: 4000 }, colorScheme: "light" };
  const visitor = await (await browser.newContext({ viewport: { width: 760, height: 520 } })).newPage();
  await visitor.goto(server.address);
  await expect(visitor.getByLabel("E-mail address")).toBeVisible();
  await visitor.screenshot({ path: join(IMAGES, "sign-in.png") });
  await visitor.setViewportSize({ width: 760, height: 300 });
  await visitor.goto(shared);
  await visitor.screenshot({ path: join(IMAGES, "shared-answer.png") });
  const page = await signedIn(browser, "ada@example.org", options);
  await inKitchen(page);
  await card(page, "Members").screenshot({ path: join(IMAGES, "members.png") });
  await card(page, "Tokens").screenshot({ path: join(IMAGES, "keys.png") });
  const log = await card(page, "Audit log").boundingBox();
  await page.screenshot({ path: join(IMAGES, "audit-log.png"), clip: { x: 0, y: 0, width: 0, ...log, height: 560 } });
});

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`all screens of accounts, ${size} ${colorScheme}`, async ({ browser }) => {
      test.setTimeout(300_000);
      const shoot = async (page: Page | Locator, name: string): Promise<void> => {
        await page.screenshot({ path: join(FOLDER, `account-${name}-${size}-${colorScheme}.png`) });
      };
      const visitor = await (await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" })).newPage();
      await visitor.goto(server.address);
      await expect(visitor.getByLabel("E-mail address")).toBeVisible();
      await shoot(visitor, "sign-in");
      await visitor.getByRole("button", { name: "Create an account" }).click();
      await shoot(visitor, "sign-up");
      await visitor.goto(shared);
      await shoot(visitor, "shared");
      await visitor.goto(`${server.address}/shared/no-such-link`);
      await shoot(visitor, "shared-none");

      const page = await signedIn(browser, "ada@example.org", { viewport, colorScheme });
      await inKitchen(page);
      for (const name of CARDS) {
        await card(page, name).scrollIntoViewIfNeeded();
        await shoot(card(page, name), name.toLowerCase().replaceAll(" ", "-"));
      }
      const dialog = async (region: string, button: string | RegExp, name: string): Promise<void> => {
        await card(page, region).getByRole("button", { name: button }).first().click();
        await expect(page.getByRole("dialog")).toBeVisible();
        await page.waitForLoadState("networkidle");
        await shoot(page, name);
        await page.keyboard.press("Escape");
        await expect(page.getByRole("dialog")).toHaveCount(0);
      };
      await dialog("Your account", "Change password", "dialog-password");
      await dialog("Members", "Invite", "dialog-invite");
      await dialog("Service accounts", /^New key/, "dialog-key");
      await dialog("People", /^Quotas of Ben/, "dialog-quotas");
      await dialog("People", /^Suspend Ben/, "dialog-suspend");
      await dialog("Tokens", "Create token", "dialog-token");
      await dialog("Shared answers", /^Revoke the link/, "dialog-end");
      await dialog("Your data", "Erase everything", "dialog-erase");
      await page.context().close();
    });
  }
}
