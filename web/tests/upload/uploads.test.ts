// The queue against a server that answers when the test says so.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeBrowser, type Page, settle } from "./browser";

type Uploads = typeof import("../../src/upload/uploads");
type Client = typeof import("../../src/api/client");

const renewed = vi.hoisted(() => ({ session: vi.fn<() => Promise<boolean>>() }));
vi.mock("../../src/api/session", () => ({ renewSession: renewed.session }));

class FakeRequest {
  static all: FakeRequest[] = [];
  upload: { onprogress?: (event: { loaded: number }) => void } = {};
  status = 0;
  response: unknown;
  onload: () => void = () => undefined;
  onerror: () => void = () => undefined;
  onabort: () => void = () => undefined;
  name = "";
  readonly headers = new Map<string, string>();
  get proof(): string {
    return this.headers.get("X-CSRF-Token") ?? "";
  }
  open(): void {}
  setRequestHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }
  send(form: FormData): void {
    this.name = (form.get("file") as File).name;
    FakeRequest.all.push(this);
  }
  abort(): void {
    this.onabort();
  }
  async answer(status: number, body: unknown): Promise<void> {
    this.status = status;
    this.response = body;
    this.onload();
    await settle();
  }
}

const sent = (): string[] => FakeRequest.all.map(({ name }) => name);
const request = (name: string): FakeRequest => FakeRequest.all.findLast((one) => one.name === name) as FakeRequest;
const accept = (name: string): Promise<void> =>
  request(name).answer(201, { id: name, status: "uploaded", filename: name });
const refuse = (name: string, status: number, code: string): Promise<void> =>
  request(name).answer(status, { error: { code, message: code } });
const files = (...names: string[]): File[] => names.map((name) => new File(["12345"], name));

let browser: FakeBrowser;
let page: Page;
let uploads: Uploads;
let client: Client;
const statusOf = (name: string): string | undefined =>
  uploads.uploads.get().find((upload) => upload.name === name)?.status;
const add = (...names: string[]): void => uploads.addUploads(files(...names), uploads.DEFAULT_OPTIONS);

beforeEach(async () => {
  vi.useFakeTimers();
  FakeRequest.all = [];
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  // The stages are followed elsewhere: the server says nothing about them.
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  browser = new FakeBrowser();
  page = await browser.open("ama");
  uploads = await import("../../src/upload/uploads");
  client = await import("../../src/api/client");
  client.setSession({ csrf: "proof of ama", owner: "ama" });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("sends files in the order in which they were chosen, three at a time, a later choice after an earlier one", async () => {
  add("1", "2", "3", "4", "5");
  add("6", "7");
  expect(sent()).toEqual(["1", "2", "3"]);
  await accept("2");
  await accept("1");
  expect(sent()).toEqual(["1", "2", "3", "4", "5"]);
  await refuse("4", 413, "too_large");
  await accept("3");
  await accept("5");
  expect(sent()).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
});

it("lists the newest choice first, each in its own order", () => {
  add("1", "2");
  add("3", "4");
  expect(uploads.uploads.get().map(({ name }) => name)).toEqual(["3", "4", "1", "2"]);
});

it("warns until the server has every file, and lists what it has not after the page was left", async () => {
  add("1", "2", "3", "4");
  await accept("1");
  expect(page.warns).toBe(true);
  request("2").onerror();
  await settle();
  uploads.cancelUpload(uploads.uploads.get().find(({ name }) => name === "4")?.id ?? "");
  await settle();
  expect(statusOf("2")).toBe("failed");
  expect(page.warns).toBe(true);
  await page.leave();
  expect((await browser.open("ama", page)).names().sort()).toEqual(["2", "3"]);
});

it("no longer warns once every file has arrived, failed or been cancelled", async () => {
  add("1", "2", "3");
  await accept("1");
  await refuse("2", 413, "too_large");
  uploads.cancelUpload(uploads.uploads.get().find(({ name }) => name === "3")?.id ?? "");
  await settle();
  expect(page.warns).toBe(false);
  uploads.clearFinished();
  await page.leave();
  expect((await browser.open("ama", page)).names()).toEqual([]);
});

it("never sends one owner's queued file as another owner", async () => {
  add("1", "2", "3", "4");
  client.setSession({ csrf: "proof of kofi", owner: "kofi" });
  for (const name of ["1", "2", "3"]) await accept(name);
  add("of kofi");
  expect(sent()).toEqual(["1", "2", "3", "of kofi"]);
  expect(request("of kofi").proof).toBe("proof of kofi");
  client.setSession({ csrf: "newer proof of ama", owner: "ama" });
  uploads.resumeUploads();
  expect(sent()).toEqual(["1", "2", "3", "of kofi", "4"]);
  expect(request("4").proof).toBe("newer proof of ama");
});

it("keeps files over a session that ended, and sends them in order after signing in again", async () => {
  add("1", "2", "3", "4");
  await refuse("1", 401, "unauthorized");
  await refuse("2", 401, "unauthorized");
  expect(["1", "2", "3", "4"].map(statusOf)).toEqual(["queued", "queued", "sending", "queued"]);
  expect(page.warns).toBe(true);
  expect(sent()).toHaveLength(3);
  client.setSession({ csrf: "newer", owner: "ama" });
  uploads.resumeUploads();
  expect(sent().slice(3)).toEqual(["1", "2"]);
});

it("goes on with the newer token that the same owner signed in with in another tab", async () => {
  renewed.session.mockImplementation(async () => {
    client.setSession({ csrf: "newer", owner: "ama" });
    return true;
  });
  add("1", "2");
  await refuse("1", 403, "foreign_request");
  await refuse("2", 403, "foreign_request");
  expect(sent()).toEqual(["1", "2", "1", "2"]);
  expect(request("2").proof).toBe("newer");
  // Turned away with the present token too: trying again would go on for ever.
  await refuse("2", 403, "foreign_request");
  expect(statusOf("2")).toBe("failed");
});

it("lists a file that another owner's session turned away, for its own owner", async () => {
  renewed.session.mockResolvedValue(false);
  add("1");
  await refuse("1", 403, "foreign_request");
  expect(statusOf("1")).toBe("failed");
  await page.leave();
  expect((await browser.open("ama", page)).names()).toEqual(["1"]);
});

it("takes a file off the list of what was not sent once it is added again", async () => {
  add("1", "2", "3", "4");
  await page.leave();
  page = await browser.open("ama", page);
  uploads = await import("../../src/upload/uploads");
  client = await import("../../src/api/client");
  client.setSession({ csrf: "proof of ama", owner: "ama" });
  expect(page.names()).toEqual(["1", "2", "3", "4"]);
  add("3", "1");
  expect(page.names()).toEqual(["2", "4"]);
});

it("takes each file to the workspace that it was chosen in, whatever is shown when its turn comes", async () => {
  const { chooseWorkspace } = await import("../../src/api/workspace");
  const { queryClient } = await import("../../src/api/queries");
  const { resourcesQuery } = await import("../../src/api/resources");
  chooseWorkspace("p1");
  queryClient.setQueryData(resourcesQuery("p1").queryKey, []);
  queryClient.setQueryData(resourcesQuery(null).queryKey, []);
  add("1", "2", "3", "4");
  chooseWorkspace(null);
  add("5");
  await accept("1");
  await accept("2");
  const project = (name: string): string | undefined => request(name).headers.get("X-Citewell-Project");
  expect(["1", "4", "5"].map(project)).toEqual(["p1", "p1", undefined]);
  const listed = (workspace: string | null) => queryClient.getQueryData(resourcesQuery(workspace).queryKey);
  expect(listed("p1")?.map(({ id }) => id)).toEqual(["2", "1"]);
  expect(listed(null)).toEqual([]);

  request("3").onerror();
  await settle();
  uploads.retryUpload(uploads.uploads.get().find(({ name }) => name === "3")?.id ?? "");
  await accept("4");
  expect(project("3")).toBe("p1");
});

it("says after a reload which files were for a project of somebody else", async () => {
  const { chooseWorkspace } = await import("../../src/api/workspace");
  chooseWorkspace("p1");
  add("1");
  chooseWorkspace(null);
  add("2");
  await page.leave();
  const left = (await browser.open("ama", page)).lost();
  expect(left.map(({ name, workspace }) => [name, workspace])).toEqual([
    ["1", "p1"],
    ["2", undefined],
  ]);
});
