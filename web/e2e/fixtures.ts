// A server with the sample files for all tests of a worker; every page is watched for violations of its policy and for errors.
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { Server } from "./server";

const BUSY = ["uploaded", "extracting", "extracted", "indexing"];

export interface ResourceRow {
  id: string;
  filename: string;
  status: string;
}

interface Watched {
  problems: string[];
}

export const test = base.extend<{ watched: Watched; home: Page }, { server: Server; samples: ResourceRow[] }>({
  server: [
    // Playwright reads what a fixture depends on from this pattern.
    async ({}, use) => {
      const server = new Server().withSamples();
      await server.start();
      await use(server);
      await server.remove();
    },
    { scope: "worker", timeout: 300_000 },
  ],
  samples: [async ({ server }, use) => use(await ready(server)), { scope: "worker" }],
  watched: [
    async ({ context }, use) => {
      const problems: string[] = [];
      await context.exposeBinding("reportViolation", (_source, text: string) => void problems.push(text));
      await context.addInitScript(() => {
        const report = (window as unknown as { reportViolation: (text: string) => void }).reportViolation;
        document.addEventListener("securitypolicyviolation", (event) =>
          report(`policy: ${event.violatedDirective} ${event.blockedURI}`),
        );
      });
      context.on("weberror", (error) => problems.push(`error: ${error.error().message}`));
      context.on("dialog", (dialog) => {
        problems.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await use({ problems });
      expect(problems).toEqual([]);
    },
    { auto: true },
  ],
  home: async ({ page, server, samples }, use) => {
    expect(samples.length).toBeGreaterThan(0);
    await page.goto(server.link);
    await expect(question(page)).toBeVisible();
    await use(page);
  },
});

export { expect };

/** All files, once none of them is being worked on. */
export async function ready(server: Server, token = server.token): Promise<ResourceRow[]> {
  for (;;) {
    const { resources } = await server.call<{ resources: ResourceRow[] }>(
      "GET",
      "/resources?limit=500",
      undefined,
      token,
    );
    if (resources.every(({ status }) => !BUSY.includes(status))) return resources;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

export function question(page: Page): Locator {
  return page.getByRole("textbox", { name: "Your question" });
}

/** Ask, and wait until the answer is whole. */
export async function ask(page: Page, text: string): Promise<Locator> {
  await question(page).fill(text);
  await question(page).press("Enter");
  const reply = page.getByRole("article", { name: "Answer" }).last();
  await expect(reply.getByRole("button", { name: "Copy with citations" })).toBeVisible();
  return reply;
}

/** Serious findings of axe on what is shown now. */
export async function serious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"])
    .analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200)}`),
    );
}
