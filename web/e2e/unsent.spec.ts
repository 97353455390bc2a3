// Leaving the page while files upload: asked about before, and told afterwards. Uploads are held up so that they are under way for as long as it takes.
import type { Browser, BrowserContext, Page, Route } from "@playwright/test";
import { expect, question, serious, test } from "./fixtures";

interface Visit {
  context: BrowserContext;
  page: Page;
  /** What the browser asked, in order; each question is answered with `leaves`. */
  asked: string[];
  leaves: boolean;
  /** Names of the files whose upload began. */
  begun: string[];
}

async function visit(browser: Browser, link: string): Promise<Visit> {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1360, height: 860 } });
  const page = await context.newPage();
  const visit: Visit = { context, page, asked: [], leaves: true, begun: [] };
  page.on("dialog", (dialog) => {
    visit.asked.push(dialog.type());
    void (visit.leaves ? dialog.accept() : dialog.dismiss());
  });
  await page.goto(link);
  await expect(question(page)).toBeVisible();
  return visit;
}

/** Uploads of names that match stay where they are; the others go through. */
async function holdUp(visit: Visit, names: RegExp): Promise<void> {
  await visit.page.route("**/ingest", async (route: Route) => {
    const name = /filename="([^"]*)"/.exec(route.request().postDataBuffer()?.toString("latin1") ?? "")?.[1] ?? "";
    visit.begun.push(name);
    if (!names.test(name)) await route.continue();
  });
}

const text = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(`This is ${name}.`) });

async function add(page: Page, ...names: string[]): Promise<void> {
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  await page.getByRole("dialog").getByLabel("Choose files").setInputFiles(names.map(text));
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Add \d/ })
    .click();
}

const notice = (page: Page) => page.getByRole("region", { name: "Files not uploaded" });
const listed = (page: Page) => notice(page).getByRole("listitem").locator(".upload-name").allTextContents();

test("files go up in the order in which they were chosen; a reload asks first, and afterwards lists what was not sent", async ({
  browser,
  server,
}) => {
  const ama = await visit(browser, `${server.address}/?token=${server.tokenOf("ama who reloads")}`);
  const { page } = ama;
  await holdUp(ama, /^[3-9]/);
  await add(page, "1 first.txt", "2 second.txt", "3 third.txt", "4 fourth.txt", "5 fifth.txt", "6 sixth.txt");
  const tray = page.getByRole("region", { name: "Uploads" });
  for (const name of ["1 first.txt", "2 second.txt"]) {
    await expect(tray.getByRole("listitem").filter({ hasText: name })).toContainText("Ready", { timeout: 60_000 });
  }
  await expect
    .poll(() => ama.begun)
    .toEqual(["1 first.txt", "2 second.txt", "3 third.txt", "4 fourth.txt", "5 fifth.txt"]);

  ama.leaves = false;
  await page.evaluate(() => setTimeout(() => window.location.reload()));
  await expect.poll(() => ama.asked).toEqual(["beforeunload"]);
  await expect(tray.getByRole("listitem")).toHaveCount(6);
  await expect(notice(page)).toBeHidden();

  ama.leaves = true;
  await page.reload();
  expect(ama.asked).toEqual(["beforeunload", "beforeunload"]);
  await expect(notice(page)).toContainText("4 files not uploaded");
  expect(await listed(page)).toEqual(["3 third.txt", "4 fourth.txt", "5 fifth.txt", "6 sixth.txt"]);
  await expect(notice(page).getByRole("listitem").first()).toContainText("20 bytes");
  expect(await serious(page)).toEqual([]);

  // Chosen again, they leave the list; nothing is asked any more once all of them have arrived.
  await page.unroute("**/ingest");
  await notice(page).getByLabel("Choose files again").setInputFiles(["3 third.txt", "5 fifth.txt"].map(text));
  await page.getByRole("dialog").getByRole("button", { name: "Add 2 files" }).click();
  await expect.poll(() => listed(page)).toEqual(["4 fourth.txt", "6 sixth.txt"]);
  await expect(tray).toContainText("All files are ready", { timeout: 60_000 });
  await page.reload();
  expect(ama.asked).toHaveLength(2);
  await expect.poll(() => listed(page)).toEqual(["4 fourth.txt", "6 sixth.txt"]);
  await notice(page).getByRole("button", { name: "Dismiss" }).click();
  await expect(notice(page)).toBeHidden();
  await page.reload();
  await expect(question(page)).toBeVisible();
  await expect(notice(page)).toBeHidden();
  await ama.context.close();
});

test("two tabs keep their uploads apart; what a lost tab did not send is listed in the other", async ({
  browser,
  server,
}) => {
  const ama = await visit(browser, `${server.address}/?token=${server.tokenOf("ama of two tabs")}`);
  await holdUp(ama, /held/);
  await add(ama.page, "held one.txt", "sent.txt");
  await expect(
    ama.page.getByRole("region", { name: "Uploads" }).getByRole("listitem").filter({ hasText: "sent.txt" }),
  ).toContainText("Ready", { timeout: 60_000 });
  const second = await ama.context.newPage();
  await second.goto(server.address);
  await expect(question(second)).toBeVisible();
  await expect(notice(second)).toBeHidden();
  await ama.page.close();
  await expect(notice(second)).toContainText("1 file not uploaded");
  expect(await listed(second)).toEqual(["held one.txt"]);
  await ama.context.close();
});

test("signing out asks while files upload; another owner in the same browser neither sends nor sees them", async ({
  browser,
  server,
}) => {
  const [ama, kofi] = [server.tokenOf("ama who signs out"), server.tokenOf("kofi after her")];
  const first = await visit(browser, `${server.address}/?token=${ama}`);
  const { page } = first;
  await holdUp(first, /./);
  await add(page, "1.txt", "2.txt", "3.txt", "4.txt");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign out while files upload?" });
  await expect(dialog).toContainText("4 files have not been uploaded yet");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden(); // both have a button of that name while it closes
  await page.getByRole("button", { name: "Sign out" }).click();
  await dialog.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByLabel("Token", { exact: true })).toBeVisible();
  expect(first.asked).toEqual([]);
  expect(first.begun).toEqual(["1.txt", "2.txt", "3.txt"]);

  const signIn = async (token: string): Promise<void> => {
    await page.getByLabel("Token", { exact: true }).fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(question(page)).toBeVisible();
  };
  await signIn(kofi);
  await expect(notice(page)).toBeHidden();
  await page.goto(`${server.address}/settings`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(ama);
  await expect(notice(page)).toContainText("4 files not uploaded");
  await first.context.close();
});

test("a tab whose browser is signed in to another account by another tab sends nothing more", async ({
  browser,
  server,
}) => {
  const [ama, kofi] = [server.tokenOf("ama in one tab"), server.tokenOf("kofi in the other")];
  const first = await visit(browser, `${server.address}/?token=${ama}`);
  await holdUp(first, /^[1-3]/);
  await add(first.page, "1.txt", "2.txt", "3.txt", "4.txt");
  await expect.poll(() => first.begun).toHaveLength(3);
  const second = await first.context.newPage();
  await second.goto(`${server.address}/?token=${kofi}`);
  await expect(question(second)).toBeVisible();
  await expect(first.page.getByRole("heading", { name: "You signed in to another account" })).toBeVisible();
  await expect(notice(second)).toBeHidden();
  await first.page.getByRole("button", { name: "Reload" }).click();
  await expect(question(first.page)).toBeVisible();
  expect(first.begun).toHaveLength(3);
  const { resources } = await server.call<{ resources: unknown[] }>("GET", "/resources", undefined, kofi);
  expect(resources).toEqual([]);
  await first.context.close();
});
