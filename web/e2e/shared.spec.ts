// The page behind a link to one answer, as somebody sees it who has the link and nothing else.
import type { Browser, Page } from "@playwright/test";
import { ask, expect, question, ready, test } from "./fixtures";
import { Server } from "./server";

const QUESTION = "How many limes does the recipe of the harbour inn need?";
const OTHER = "What does the safe of the harbour inn open with?";
const FILE = [
  "# Recipe\n\nThe recipe of the harbour inn needs seven limes and a spoon of smoked salt.",
  "# Safe\n\nThe safe of the harbour inn opens with nineteen pelicans.",
].join("\n\n");

let server: Server;

test.beforeAll(async () => {
  test.setTimeout(120_000);
  server = new Server();
  await server.start();
  const form = new FormData();
  form.set("file", new Blob([FILE]), "harbour.md");
  await server.call("POST", "/ingest", form);
  await ready(server);
});

test.afterAll(async () => {
  await server.remove();
});

interface Share {
  id: string;
  path: string;
}

/** A link to the first answer of the newest conversation. */
async function share(): Promise<Share> {
  const { threads } = await server.call<{ threads: { id: string }[] }>("GET", "/threads");
  const thread = `/threads/${threads[0]?.id}`;
  const kept = await server.call<{ messages: { id: string; role: string }[] }>("GET", thread);
  const answer = kept.messages.find(({ role }) => role === "assistant")?.id;
  return server.call<Share>("POST", `${thread}/messages/${answer}/share`, { days: 1 });
}

/** Somebody who has never been here, and what their browser asks for. */
async function stranger(browser: Browser): Promise<{ page: Page; asked: string[] }> {
  const page = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  return { page, asked };
}

test("a link shows the answer and the passages that it cites, and leads nowhere else", async ({ page, browser }) => {
  await page.goto(server.link);
  await expect(question(page)).toBeVisible();
  await expect(await ask(page, QUESTION)).toContainText("seven limes");
  await expect(await ask(page, OTHER)).toContainText("nineteen pelicans");
  const { path } = await share();

  const guest = await stranger(browser);
  await guest.page.goto(server.address + path);
  await expect(guest.page.getByRole("heading", { name: "A shared answer" })).toBeVisible();
  await expect(guest.page.getByRole("main")).toContainText("seven limes");
  const passage = guest.page.getByRole("listitem").first();
  await expect(passage).toContainText("harbour.md");
  await expect(passage.locator("blockquote")).toContainText("seven limes and a spoon of smoked salt");
  const text = await guest.page.locator("html").innerHTML();
  for (const hidden of ["pelicans", QUESTION, OTHER]) expect(text).not.toContain(hidden);
  const links = await guest.page.getByRole("link").evaluateAll((found) => found.map((one) => one.getAttribute("href")));
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((link) => !link?.startsWith("#source-"))).toEqual([]);

  await guest.page.getByRole("link", { name: "[1]" }).first().click();
  expect(new URL(guest.page.url()).hash).toBe("#source-1");
  expect(guest.asked.filter((one) => one !== path && one !== "/favicon.ico")).toEqual([]);
  expect(await guest.page.context().cookies()).toEqual([]);
  // The secret opens nothing but this page.
  await guest.page.goto(server.address);
  await expect(guest.page.getByRole("button", { name: "Sign in", exact: true })).toBeVisible();
});

test("a link that has expired or was ended says so", async ({ page, browser }) => {
  await page.goto(server.link);
  await ask(page, QUESTION);
  const [ended, expired] = [await share(), await share()];
  await server.call("DELETE", `/shares/${ended.id}`);
  server.sql(`UPDATE shared_answers SET expires_at = 0 WHERE id = '${expired.id}'`);
  const guest = await stranger(browser);
  for (const { path } of [ended, expired, { path: "/shared/never-was-one" }]) {
    const response = await guest.page.goto(server.address + path);
    expect(response?.status()).toBe(404);
    await expect(guest.page.getByRole("heading", { name: "No answer here" })).toBeVisible();
    await expect(guest.page.locator("body")).toContainText("it has expired, or what it showed is no longer shared");
    await expect(guest.page.locator("body")).not.toContainText("limes");
  }
});
