// Two people in real browsers: Ada shares a project, Ben works in it as its editor, sees it as its viewer, and loses it.
import type { Browser, Locator, Page } from "@playwright/test";
import { ask, expect, question, serious, test } from "./fixtures";
import { Server } from "./server";

const PASSWORD = "correct horse battery staple";
const QUESTION = "How many limes does the recipe of the harbour inn need?";
const RECIPE = "# Recipe\n\nThe recipe of the harbour inn needs seven limes and a spoon of smoked salt.";
const SECRET = "# Safe\n\nThe safe of the harbour inn opens with nineteen pelicans.";
const NOTE = "# Opening hours\n\nThe harbour inn is open from nine to midnight.";
/** Markup that runs where a name is taken for HTML. */
const HOSTILE = `<img src=x onerror="window.top.owned=1">`;

let server: Server;
let ada: Page;
let ben: Page;
let kitchen = "";
let member = "";

test.describe.configure({ mode: "serial" });

test.beforeAll(async ({ browser }) => {
  test.setTimeout(300_000);
  server = new Server({ CITEWELL_AUTH_SECRET: undefined, CITEWELL_ACCOUNTS: "on", CITEWELL_SIGN_UP: "open" });
  await server.start();
  for (const [email, name] of [
    ["ada@example.org", "Ada"],
    ["ben@example.org", "Ben"],
  ]) {
    const response = await fetch(`${server.address}/account`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email, name, password: PASSWORD }),
    });
    expect(response.status).toBe(201);
  }
  ada = await signedIn(browser, "ada@example.org");
  ben = await signedIn(browser, "ben@example.org");
  await expect(switcher(ben)).toHaveCount(0);
  kitchen = await share("Kitchen", "editor");
  await share(HOSTILE, "viewer");
  await add("harbour inn.md", RECIPE, kitchen);
  await add("safe.md", SECRET, "");
  member = (await call<{ owner: string }>(ben, "GET", "/account")).owner;
});

test.afterAll(async () => {
  await server.remove();
});

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(question(page)).toBeVisible();
}

async function signedIn(browser: Browser, email: string): Promise<Page> {
  const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
  await page.goto(server.address);
  await signIn(page, email);
  return page;
}

type Body = Pick<NonNullable<Parameters<Page["request"]["fetch"]>[1]>, "data" | "multipart">;

/** A request of the person who is signed in there, without a project's header. */
async function call<T>(page: Page, method: string, path: string, body: Body = {}): Promise<T> {
  const { csrf } = (await (await page.request.get(`${server.address}/session`)).json()) as { csrf: string };
  const headers = { "X-CSRF-Token": csrf };
  const response = await page.request.fetch(server.address + path, { method, headers, ...body });
  expect(response.ok(), `${method} ${path}: ${response.status()}`).toBe(true);
  return (response.status() === 204 ? null : await response.json()) as T;
}

async function share(name: string, role: "viewer" | "editor"): Promise<string> {
  const { id } = await call<{ id: string }>(ada, "POST", "/projects", { data: { name } });
  const { invitation } = await call<{ invitation: string }>(ada, "POST", "/invitations", {
    data: { project: id, role },
  });
  await call(ben, "POST", "/invitations/accept", { data: { invitation } });
  return id;
}

async function add(name: string, text: string, project: string): Promise<void> {
  const file = { name, mimeType: "text/markdown", buffer: Buffer.from(text) };
  const { id } = await call<{ id: string }>(ada, "POST", "/ingest", { multipart: { file, project } });
  // Its events end when it is ready.
  await ada.request.get(`${server.address}/resources/${id}/events`);
}

const switcher = (page: Page): Locator => page.getByRole("button", { name: /^Working in/ });
const label = (page: Page): Locator => page.getByRole("region", { name: "Working in" });
const files = (page: Page): Locator => page.getByRole("table", { name: "Library" });

async function enter(page: Page, name: string): Promise<void> {
  await switcher(page).click();
  await page.getByRole("menuitemradio", { name }).click();
  await expect(switcher(page)).toHaveAccessibleName(new RegExp(`^Working in: ${name}`));
}

test("an editor asks in a shared project, opens the citation, and adds a file to it", async () => {
  await ben.reload();
  await expect(switcher(ben)).toHaveAccessibleName("Working in: Your files");
  await expect(label(ben)).toHaveCount(0);
  await enter(ben, "Kitchen");
  await expect(label(ben)).toContainText("Kitchen shared by Ada · Editor");
  expect(await serious(ben)).toEqual([]);

  const reply = await ask(ben, QUESTION);
  await expect(reply).toContainText("seven limes");
  await expect(reply.getByRole("button", { name: "Share answer" })).toHaveCount(0);
  await reply
    .getByRole("button", { name: /^Source 1/ })
    .first()
    .click();
  await expect(ben.getByRole("complementary", { name: "Source" })).toContainText("a spoon of smoked salt");

  await ben.getByRole("link", { name: "Library" }).click();
  await expect(files(ben)).toContainText("harbour inn.md");
  await expect(files(ben)).not.toContainText("safe.md");
  await ben.getByRole("button", { name: "Add files" }).click();
  const dialog = ben.getByRole("dialog");
  await expect(dialog).toContainText("Files go to “Kitchen”, shared by Ada.");
  const hours = { name: "hours.md", mimeType: "text/markdown", buffer: Buffer.from(NOTE) };
  await dialog.getByLabel("Choose files").setInputFiles(hours);
  await dialog.getByText("Options").click();
  await expect(dialog.getByLabel("Password")).toBeVisible();
  await expect(dialog.getByLabel("Project")).toHaveCount(0);
  expect(await serious(ben)).toEqual([]);
  await dialog.getByRole("button", { name: "Add 1 file" }).click();
  // It goes where it was begun, whatever is shown meanwhile.
  await enter(ben, "Your files");
  await expect(switcher(ben)).toBeFocused();
  await expect(ben.getByRole("heading", { name: "No files yet" })).toBeVisible();
  const tray = ben.getByRole("region", { name: "Uploads" });
  await expect(tray).toContainText("All files are ready");
  await expect(tray).toContainText("to “Kitchen”");
  await expect(ben.getByRole("heading", { name: "No files yet" })).toBeVisible();
  const { resources } = await call<{ resources: { filename: string; project_ids: string[] }[] }>(
    ada,
    "GET",
    "/resources",
  );
  expect(resources.find(({ filename }) => filename === "hours.md")?.project_ids).toEqual([kitchen]);
});

test("a chat of the project opens from one's own files, and goes on there", async () => {
  await ben.getByRole("region", { name: "Chats" }).getByRole("link", { name: QUESTION }).click();
  const reply = ben.getByRole("article", { name: "Answer" });
  await expect(reply).toContainText("seven limes");
  await reply
    .getByRole("button", { name: /^Source 1/ })
    .first()
    .click();
  await expect(ben.getByRole("complementary", { name: "Source" })).toContainText("a spoon of smoked salt");
  await expect(ben.getByText("This chat is about “Kitchen”, shared by Ada.")).toBeVisible();
  await expect(question(ben)).toHaveCount(0);
  expect(await serious(ben)).toEqual([]);
  await ben.getByRole("button", { name: "Switch to this project" }).click();
  await expect(await ask(ben, "And when is the harbour inn open?")).toContainText("from nine to midnight");
});

test("the workspace survives a reload and comes with a link, and signing out forgets it", async ({ browser }) => {
  await ben.goto(`${server.address}/library`);
  await expect(label(ben)).toContainText("Kitchen");
  const other = await ben.context().newPage();
  await other.goto(`${server.address}/library`);
  await expect(switcher(other)).toHaveAccessibleName("Working in: Your files");
  await other.goto(`${server.address}/library?project=${kitchen}`);
  await expect(label(other)).toContainText("Kitchen");
  expect(other.url()).toBe(`${server.address}/library`);
  await other.goto(`${server.address}/?project=no-such-project`);
  await expect(other.getByText("This project does not exist, or is not shared with you.")).toBeVisible();
  await expect(switcher(other)).toHaveAccessibleName("Working in: Your files");
  await other.close();

  const third = await signedIn(browser, "ben@example.org");
  await enter(third, "Kitchen");
  await third.goto(`${server.address}/settings`);
  await expect(third.getByText("Settings apply to your own files and account, not to “Kitchen”.")).toBeVisible();
  await expect(third.getByRole("region", { name: "Members" }).getByLabel("Project")).not.toContainText("Kitchen");
  await third.getByRole("button", { name: "Sign out", exact: true }).click();
  await signIn(third, "ben@example.org");
  await expect(switcher(third)).toHaveAccessibleName("Working in: Your files");
  await third.close();
});

test("a viewer is offered nothing that the server would refuse", async () => {
  await call(ada, "PUT", `/projects/${kitchen}/members/${member}`, { data: { role: "viewer" } });
  await ben.goto(`${server.address}/library`);
  await expect(label(ben)).toContainText("Kitchen shared by Ada · Viewer");
  await expect(files(ben)).toContainText("harbour inn.md");
  await expect(ben.getByRole("button", { name: "Add files" })).toHaveCount(0);
  await ben.getByRole("button", { name: "Options for harbour inn.md" }).click();
  await expect(ben.getByRole("menuitem", { name: "Ask about this file" })).toBeVisible();
  await expect(ben.getByRole("menuitem", { name: "Delete" })).toHaveCount(0);
  await ben.keyboard.press("Escape");
  await ben.getByLabel("Select harbour inn.md").check();
  const selection = ben.getByRole("toolbar", { name: "Selected files" });
  await expect(selection.getByRole("button", { name: "Ask about these" })).toBeVisible();
  await expect(selection.getByRole("button", { name: "Delete" })).toHaveCount(0);
  await ben.getByRole("link", { name: "harbour inn.md" }).click();
  await expect(ben.getByRole("heading", { name: "harbour inn.md" })).toBeVisible();
  await expect(ben.getByRole("button", { name: "Edit metadata" })).toHaveCount(0);

  await ben.getByRole("link", { name: "Chat", exact: true }).click();
  await ben.getByRole("button", { name: "Attach or filter" }).click();
  await expect(ben.getByRole("menuitem", { name: "Select a document" })).toBeVisible();
  await expect(ben.getByRole("menuitem", { name: "Upload files" })).toHaveCount(0);
  await ben.keyboard.press("Escape");
  await ben.getByRole("link", { name: "Search" }).click();
  await ben.getByRole("searchbox", { name: "Search for words or ask a question" }).fill("limes of the harbour inn");
  await ben.keyboard.press("Enter");
  await expect(ben.getByRole("list", { name: "Results" }).first()).toContainText("seven limes");
});

test("what somebody else called a project is shown as it is written", async () => {
  await switcher(ben).click();
  await ben.getByRole("menuitemradio", { name: HOSTILE }).click();
  await expect(label(ben)).toContainText(HOSTILE);
  await ben.getByRole("link", { name: "Chat", exact: true }).click();
  await expect(ben.getByText(`Nobody has added a file to “${HOSTILE}” yet.`)).toBeVisible();
  await ben.keyboard.press("Control+k");
  await expect(ben.getByRole("option", { name: /Kitchen/ })).toBeVisible();
  await ben.keyboard.press("Escape");
  expect(await ben.evaluate(() => (window as { owned?: number }).owned)).toBeUndefined();
  await expect(ben.locator("img[onerror]")).toHaveCount(0);
});

test("who is removed is back in their own files, and is told so", async () => {
  await enter(ben, "Kitchen");
  await ben.getByRole("link", { name: "Library" }).click();
  await expect(files(ben)).toContainText("harbour inn.md");
  await call(ada, "DELETE", `/projects/${kitchen}/members/${member}`);
  await ben.getByRole("link", { name: "Search" }).click();
  await ben.getByRole("searchbox", { name: "Search for words or ask a question" }).fill("limes of the harbour inn");
  await ben.keyboard.press("Enter");
  await expect(ben.getByText("“Kitchen” is no longer shared with you. You are back in your own files.")).toBeVisible();
  await expect(label(ben)).toHaveCount(0);
  expect(await serious(ben)).toEqual([]);
  await ben.getByRole("link", { name: "Library" }).click();
  await expect(ben.getByRole("heading", { name: "No files yet" })).toBeVisible();
  await ben.getByRole("region", { name: "Chats" }).getByRole("link", { name: QUESTION }).click();
  await expect(ben.getByText("This chat's project was deleted, or is no longer shared with you.")).toBeVisible();
  await ben.reload();
  await expect(switcher(ben)).toHaveAccessibleName("Working in: Your files");
});
