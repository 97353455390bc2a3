// Two people in two browsers: nothing of the one is to be found by the other, by name, by words or by address.
import type { Browser, Page } from "@playwright/test";
import { ask, expect, question, ready, test } from "./fixtures";

const SECRET = "The secret recipe needs seven limes and a spoon of smoked salt.";

async function visit(browser: Browser, link: string): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(link);
  await expect(question(page)).toBeVisible();
  return page;
}

test("two people in two browsers see nothing of each other", { tag: "@journey" }, async ({
  home: mine,
  server,
  browser,
}) => {
  const token = server.tokenOf("somebody else");
  const form = new FormData();
  form.set("file", new Blob([SECRET]), "secret recipe.txt");
  const { id } = await server.call<{ id: string }>("POST", "/ingest", form, token);
  await ready(server, token);
  const theirs = await visit(browser, `${server.address}/?token=${token}`);
  const reply = await ask(theirs, "How many limes does the secret recipe need?");
  await expect(reply).toContainText("seven limes");
  const thread = new URL(theirs.url()).pathname;
  const [passage] = (
    await server.call<{ chunks: { id: string }[] }>("GET", `/resources/${id}/chunks`, undefined, token)
  ).chunks;

  // Neither file nor chat is in the other's lists.
  await mine.keyboard.press("Control+k");
  await mine.getByRole("combobox").fill("secret recipe");
  await expect(mine.getByText("Nothing found")).toBeVisible();
  await mine.keyboard.press("Escape");
  await mine.getByRole("region", { name: "Chats" }).getByRole("searchbox").fill("limes");
  await expect(mine.getByRole("region", { name: "Chats" })).toContainText("Nothing found");
  await mine.goto(`${server.address}/library`);
  await mine.getByRole("searchbox", { name: "Search by name" }).fill("secret");
  await expect(mine.getByText("Nothing found")).toBeVisible();

  // Nor does a search or an answer reach it.
  await mine.goto(`${server.address}/playground`);
  await mine
    .getByRole("searchbox", { name: "Search for words or ask a question" })
    .fill("secret recipe seven limes smoked salt");
  await mine.keyboard.press("Enter");
  const hits = mine.getByRole("list", { name: "Results" }).locator(".hit");
  await expect(hits.first()).toBeVisible();
  for (const text of await hits.allTextContents()) expect(text).not.toMatch(/limes|secret recipe/);
  await mine.goto(server.address);
  await expect(await ask(mine, "How many limes does the secret recipe need?")).not.toContainText("seven");

  // Addresses of the other's things lead nowhere, on screens and in the API.
  for (const address of [thread, `/library/${id}`]) {
    await mine.goto(server.address + address);
    await expect(mine.getByRole("heading", { name: "Page not found" })).toBeVisible();
  }
  const api = [
    `/resources/${id}`,
    `/resources/${id}/file`,
    `/resources/${id}/elements`,
    `/resources/${id}/chunks/${passage?.id}`,
    `/resources/${id}/events`,
  ];
  for (const address of [
    ...api,
    thread.replace("/conversations", "/threads"),
    `${thread.replace("/conversations", "/threads")}/export`,
  ]) {
    expect(await mine.evaluate(async (path) => (await fetch(path)).status, address), address).toBe(404);
  }
  expect(
    await mine.evaluate(async (one) => (await (await fetch(`/resources?id=${one}`)).json()).resources, id),
  ).toEqual([]);

  // And the other way round.
  await theirs.getByRole("button", { name: /Go to/ }).click();
  await theirs.getByRole("combobox").fill("loan policy");
  await expect(theirs.getByText("Nothing found")).toBeVisible();
  await theirs.context().close();
});
