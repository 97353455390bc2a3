// Connections that break off in the middle, and servers that are killed there.
import type { Page } from "@playwright/test";
import { test as base, expect, question, ready } from "./fixtures";
import { Wire } from "./wire";

const LOAN = "What is the maximum loan size for first-time borrowers?";

const test = base.extend<{ wire: Wire; wired: Page }>({
  wire: async ({ server }, use) => {
    const wire = new Wire(Number(new URL(server.address).port));
    await wire.open();
    await use(wire);
    wire.close();
  },
  wired: async ({ page, wire, server, samples }, use) => {
    expect(samples.length).toBeGreaterThan(0);
    await page.goto(`${wire.address}/?token=${server.token}`);
    await expect(question(page)).toBeVisible();
    await use(page);
  },
});

async function expectAnswer(page: Page): Promise<void> {
  const reply = page.getByRole("article", { name: "Answer" });
  await expect(reply.getByRole("button", { name: /Loan Policy\.pdf, page 3/ }).first()).toBeVisible({
    timeout: 60_000,
  });
  await expect(reply).toHaveCount(1);
  await expect(page.getByRole("article", { name: "You asked" })).toHaveCount(1);
}

test("an answer whose connection breaks off in the middle is whole when the connection is back", async ({
  wired: page,
  wire,
}) => {
  const broken = wire.cutInAnswer();
  await question(page).fill(LOAN);
  await question(page).press("Enter");
  await broken;
  await expect(page.getByText("Connection lost")).toBeVisible();
  await expect(page.getByRole("article", { name: "Answer" })).toContainText(/\w{3}/);
  wire.mend();
  await expectAnswer(page);
  await page.reload();
  await expectAnswer(page);
});

test("an answer outlives a server that is killed in the middle of it", async ({ wired: page, wire, server }) => {
  const broken = wire.cutInAnswer();
  await question(page).fill(LOAN);
  await question(page).press("Enter");
  await broken;
  await server.kill();
  wire.mend();
  await expect(page.getByText("Connection lost")).toBeVisible();
  await server.restart();
  await expectAnswer(page);
});

test("a page that is opened after the server was killed in the middle offers to ask again", async ({
  wired: page,
  wire,
  server,
}) => {
  const broken = wire.cutInAnswer();
  await question(page).fill(LOAN);
  await question(page).press("Enter");
  await broken;
  const address = new URL(page.url()).pathname;
  await page.goto("about:blank");
  await server.kill();
  await server.restart();
  wire.mend();
  await page.goto(wire.address + address);
  const again = page.getByRole("button", { name: "Ask again" });
  const whole = page.getByRole("button", { name: /Loan Policy\.pdf, page 3/ }).first();
  // Whichever was first: the power cut, or the last word.
  await expect(again.or(whole).first()).toBeVisible();
  await expect(page.getByRole("article", { name: "You asked" })).toContainText(LOAN);
  if (await again.isVisible()) await again.click();
  await expectAnswer(page);
});

test("an upload that breaks off in the middle is listed with its reason, and goes up again after the restart", async ({
  wired: page,
  wire,
  server,
}) => {
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  const dialog = page.getByRole("dialog");
  const text = "The tide table of the harbour is checked every morning at six.\n".repeat(80_000);
  await dialog
    .getByLabel("Choose files")
    .setInputFiles([{ name: "tides.txt", mimeType: "text/plain", buffer: Buffer.from(text) }]);
  const broken = wire.cutInUpload(2_000_000);
  await dialog.getByRole("button", { name: "Add 1 file" }).click();
  await broken;
  await server.kill();
  const row = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  await expect(row).toContainText("tides.txt");
  await expect(row).toContainText("Failed");
  await expect(row.locator(".upload-problem")).toContainText("not responding");
  await server.restart();
  wire.mend();
  // Nothing is kept of an upload that broke off.
  const { resources } = await server.call<{ resources: unknown[] }>("GET", "/resources?q=tides");
  expect(resources).toEqual([]);
  await row.getByRole("button", { name: "Try again" }).click();
  await expect(row).toContainText("Ready", { timeout: 100_000 });
  await ready(server);
});

test("an answer that was stopped says so after the page is loaded again, and can be asked for again", async ({
  wired: page,
  server,
}) => {
  const thread = await server.call<{ id: string }>("POST", "/threads", { title: "Stopped" });
  const message = (id: string, role: string, content: string, details = {}) => ({
    id,
    role,
    content,
    details,
    citations: [],
    created_at: "2026-01-01T00:00:00Z",
  });
  const messages = [
    message("q", "user", LOAN),
    message("a", "assistant", "A first-time borrower may [1", { stopped: true }),
  ];
  await page.route(
    `**/threads/${thread.id}`,
    async (route) => route.fulfill({ json: { ...(await (await route.fetch()).json()), messages } }),
    { times: 1 },
  );
  await page.route(`**/threads/${thread.id}/messages/q`, (route) => route.fulfill({ status: 204 }));
  await page.goto(`${new URL(page.url()).origin}/conversations/${thread.id}`);
  const reply = page.getByRole("article", { name: "Answer" });
  await expect(reply).toContainText("A first-time borrower may");
  await expect(reply).toContainText("Stopped");
  await reply.getByRole("button", { name: "Ask again" }).click();
  await expectAnswer(page);
});
