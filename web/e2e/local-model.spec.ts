// A server of one owner, without accounts: only there may a model of this machine be chosen.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ask, expect, ready, serious, test } from "./fixtures";
import { ModelServer } from "./modelServer";
import { Server } from "./server";

const POLICY = "Loan Policy.pdf";
const QUESTION = "What is the maximum loan size for first-time borrowers?";
const EXTRACTED = "A first-time borrower may receive at most GHS 5,000";
const WRITTEN = "First-time borrowers may receive at most GHS 5,000";

test("a model of this machine is offered, writes the next answer after one click, and is given up again", async ({
  page,
}) => {
  const [server, local] = [new Server({ CITEWELL_AUTH_SECRET: undefined }), new ModelServer()];
  await local.open();
  await server.start();
  const used = `${local.name} with ${local.model} writes the answers.`;
  try {
    const form = new FormData();
    form.set("file", new Blob([readFileSync(join(import.meta.dirname, "../../samples", POLICY))]), POLICY);
    await server.call("POST", "/ingest", form);
    await ready(server);

    await page.goto(server.link);
    const offer = page.locator(".notice", {
      hasText: `${local.name} is running ${local.model} on this machine.`,
    });
    await expect(offer).toBeVisible();
    expect(await serious(page)).toEqual([]);
    expect(local.chats).toBe(0);
    await offer.getByRole("button", { name: "Use it" }).click();
    await expect(page.getByText(used)).toBeVisible();
    await expect(await ask(page, QUESTION)).toContainText(WRITTEN);

    await page.goto(`${server.address}/settings`);
    await expect(page.getByText(used)).toBeVisible();
    await page.getByRole("button", { name: "Stop using it" }).click();
    await expect(page.getByText(used)).toHaveCount(0);
    const before = local.chats;
    await page.goto(server.address);
    await expect(await ask(page, QUESTION)).toContainText(EXTRACTED);
    expect(local.chats).toBe(before);
  } finally {
    await local.close();
    await server.remove();
  }
});
