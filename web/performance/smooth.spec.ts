// A sheet of 100,000 rows, 1,000 chats and 10,000 files, on a real server: frames while scrolling, and how long a click or a key takes.
import { test as base, expect } from "@playwright/test";
import { question, ready } from "../e2e/fixtures";
import { Server } from "../e2e/server";
import { framesWhileScrolling, report, slowestInteraction, watchInteractions } from "./measuring";

const ROWS = 100_000;
const CHATS = 1_000;
const FILES = 10_000;
// A frame of a screen of 60 Hz.
const FRAME_MS = 16.7;
const AT_ONCE_MS = 100;

const test = base.extend<object, { server: Server }>({
  server: [
    async ({}, use) => {
      // Meaning is not measured here: a few embedded rows are enough.
      const server = new Server({ CITEWELL_MAX_DENSE_ROWS: "200" });
      await server.start();
      await use(server);
      await server.remove();
    },
    { scope: "worker", timeout: 600_000 },
  ],
});

test.beforeEach(async ({ page }) => watchInteractions(page));

test("100,000 rows", async ({ page, server }) => {
  const token = server.tokenOf("rows");
  const lines = Array.from(
    { length: ROWS },
    (_, n) =>
      `${n},customer ${n % 977},${(n * 7919) % 10_000},2025-0${1 + (n % 9)}-1${n % 10},${n % 3 ? "paid" : "open"}`,
  );
  const form = new FormData();
  form.set("file", new Blob([["order,customer,amount,day,state", ...lines].join("\n")]), "orders.csv");
  const { id } = await server.call<{ id: string }>("POST", "/ingest", form, token);
  await ready(server, token);
  await page.goto(`${server.address}/library/${id}?token=${token}`);
  await page.getByRole("tab", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Show rows" }).first().click();
  const grid = page.getByRole("grid");
  await expect(grid.getByRole("row").nth(5)).toContainText("customer");
  const slow = await framesWhileScrolling(grid, 90);
  report("100,000 rows, 3 rows a frame (ms)", slow);
  const fast = await framesWhileScrolling(grid, 6_000);
  report("100,000 rows, 200 rows a frame (ms)", fast);
  await grid.evaluate((element) => (element.scrollTop = element.scrollHeight));
  await expect(grid).toContainText(`customer ${(ROWS - 1) % 977}`);
  expect(await grid.getByRole("row").count()).toBeLessThan(120);
  expect(slow.work).toBeLessThan(FRAME_MS);
  expect(fast.work).toBeLessThan(2 * FRAME_MS);
});

test("1,000 chats", async ({ page, server }) => {
  const token = server.tokenOf("chats");
  for (let made = 0; made < CHATS; made += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        server.call("POST", "/threads", { title: `Chat ${made + n} about the harbour` }, token),
      ),
    );
  }
  await page.goto(`${server.address}/?token=${token}`);
  await expect(question(page)).toBeVisible();
  const list = page.locator(".threads-scroll");
  await expect(list.getByRole("link").first()).toBeVisible();
  const frames = await framesWhileScrolling(list, 140);
  report("1,000 chats (ms)", frames);
  expect(await list.getByRole("link").count()).toBeLessThan(80);
  await page.getByRole("region", { name: "Chats" }).getByRole("searchbox").pressSequentially("777", { delay: 60 });
  await expect(list.getByRole("link")).toHaveCount(1);
  await list.getByRole("link").click();
  await expect(page).toHaveTitle(/Chat 777/);
  await question(page).pressSequentially("How deep is it?", { delay: 30 });
  const slowest = await slowestInteraction(page);
  report("1,000 chats, slowest of search, opening and typing (ms)", { slowest });
  expect(frames.work).toBeLessThan(FRAME_MS);
  expect(slowest).toBeLessThanOrEqual(AT_ONCE_MS);
});

test("10,000 files", async ({ page, server }) => {
  const token = server.tokenOf("files");
  for (let made = 0; made < FILES; made += 2_000) {
    const records = Array.from({ length: 2_000 }, (_, n) => ({
      id: `r${made + n}`,
      title: `Note ${made + n}`,
      text: `Buoy ${made + n} was painted.`,
    }));
    await server.call("POST", "/records", { records }, token);
  }
  const began = Date.now();
  await page.goto(`${server.address}/library?token=${token}`);
  const table = page.getByRole("table", { name: "Library" });
  await expect(table).toHaveAttribute("aria-rowcount", `${FILES + 1}`);
  report("10,000 files, from the address to the whole list", { ms: Date.now() - began });
  const frames = await framesWhileScrolling(page.locator(".library-scroll"), 140);
  report("10,000 files, 3 rows a frame (ms)", frames);
  const fast = await framesWhileScrolling(page.locator(".library-scroll"), 1_800);
  report("10,000 files, 39 rows a frame (ms)", fast);
  await page.getByRole("searchbox", { name: "Search by name" }).pressSequentially("note 4711", { delay: 60 });
  await expect(page.locator(".library-file")).toHaveCount(1);
  await page.getByRole("searchbox", { name: "Search by name" }).fill("");
  await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
  await page.locator(".library-file input").first().check();
  const slowest = await slowestInteraction(page);
  report("10,000 files, slowest of typing, sorting and ticking (ms)", { slowest });
  expect(frames.work).toBeLessThan(FRAME_MS);
  expect(slowest).toBeLessThanOrEqual(AT_ONCE_MS);
});
