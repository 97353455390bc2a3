// @vitest-environment happy-dom
import { act, screen, waitFor, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Resource, setSession } from "../../src/api/client";
import { queryClient } from "../../src/api/queries";
import { newestQuery } from "../../src/api/resources";
import { chooseWorkspace, forgetWorkspace, openWorkspace, presentWorkspace } from "../../src/api/workspace";
import { pendingScope, pendingText } from "../../src/chat/pending";
import { EVERYTHING } from "../../src/chat/scope";
import { SelectionBar } from "../../src/library/SelectionBar";
import { UploadDialog } from "../../src/upload/UploadDialog";
import { openUploadDialog, uploadDialog } from "../../src/upload/uploads";
import { WorkspaceBar } from "../../src/workspace/WorkspaceBar";
import { WorkspaceGate } from "../../src/workspace/WorkspaceGate";
import { WorkspaceSwitcher } from "../../src/workspace/WorkspaceSwitcher";
import type { SharedProject } from "../../src/workspace/workspaces";
import { show } from "./rendering";

const HOSTILE = `<img src=x onerror="window.owned=1">`;
const KITCHEN: SharedProject = { id: "p1", name: "Kitchen", owner: "a", owner_name: "Ada", role: "editor" };
const VIEWED: SharedProject = { id: "p2", name: HOSTILE, owner: "a", owner_name: null, role: "viewer" };

let shared: SharedProject[];

beforeEach(() => {
  shared = [KITCHEN, VIEWED];
  vi.stubGlobal("fetch", async (input: Request | string) => {
    const path = new URL(input instanceof Request ? input.url : input, "http://citewell").pathname;
    return Response.json(path === "/shared-projects" ? { projects: shared } : { projects: [], resources: [] });
  });
  window.sessionStorage.clear();
  setSession({ csrf: "proof", owner: "ben", accounts: true });
  openWorkspace("ben");
});
afterEach(() =>
  act(() => {
    forgetWorkspace();
    uploadDialog.set({ open: false, files: [], workspace: null });
    pendingScope.set(EVERYTHING);
  }),
);

const switcher = (): Promise<HTMLElement> => screen.findByRole("button", { name: /^Working in/ });
const frame = (children?: ReactNode): ReactNode => (
  <WorkspaceGate>
    <WorkspaceSwitcher />
    <WorkspaceBar />
    {children}
  </WorkspaceGate>
);
const file = (...project_ids: string[]): Resource => ({ id: "r1", filename: "a.txt", project_ids }) as Resource;

describe("the switcher", () => {
  test("is not there while nobody shares anything", async () => {
    shared = [];
    show(frame());
    await waitFor(() => expect(queryClient.isFetching()).toBe(0));
    expect(screen.queryByRole("button")).toBeNull();
  });

  test("is not there, and asks nothing, where nobody has an account", async () => {
    setSession({ csrf: "proof", owner: "local" });
    show(frame());
    expect(queryClient.isFetching()).toBe(0);
    expect(screen.queryByRole("button")).toBeNull();
  });

  test("names each project with its owner and the role, and enters one by keyboard", async () => {
    const { user } = show(frame());
    expect((await switcher()).getAttribute("aria-label")).toBe("Working in: Your files");
    act(() => pendingScope.set({ resource_ids: ["r1"] }));
    act(() => pendingText.set("About this: "));
    (await switcher()).focus();
    await user.keyboard("{Enter}");
    const choices = await screen.findAllByRole("menuitemradio");
    expect(choices.map((one) => one.textContent)).toEqual(["Your files", "KitchenAda · Editor", `${HOSTILE}Viewer`]);
    await user.keyboard("{ArrowDown}{Enter}");
    await waitFor(() => expect(presentWorkspace()).toBe("p1"));
    expect((await switcher()).getAttribute("aria-label")).toBe("Working in: Kitchen, shared by Ada");
    expect(screen.getByRole("region", { name: "Working in" }).textContent).toContain("Kitchen shared by Ada · Editor");
    expect(pendingScope.get()).toEqual(EVERYTHING);
    expect(pendingText.get()).toBe("");
  });

  test("shows a name as it is written", async () => {
    act(() => chooseWorkspace("p2"));
    const { user } = show(frame());
    expect((await screen.findByRole("region", { name: "Working in" })).textContent).toContain(
      `${HOSTILE} shared with you · Viewer`,
    );
    expect(document.querySelector("img")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Back to your files" }));
    expect(presentWorkspace()).toBeNull();
    expect(screen.queryByRole("region", { name: "Working in" })).toBeNull();
  });
});

describe("a project that is no longer shared", () => {
  test("is left with a message, and what was read of it is forgotten", async () => {
    act(() => chooseWorkspace("p1"));
    const { user } = show(frame(<p>Screens</p>));
    await screen.findByText("Screens");
    const { queryKey } = newestQuery("p1");
    queryClient.setQueryData(queryKey, [file("p1")]);
    shared = [VIEWED];
    await act(() => queryClient.invalidateQueries({ queryKey: ["shared-projects"] }));
    expect((await screen.findByRole("status")).textContent).toContain("“Kitchen” is no longer shared with you");
    expect(presentWorkspace()).toBeNull();
    expect(queryClient.getQueryData(queryKey)).toBeUndefined();
    expect(screen.getByText("Screens")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByRole("status")).toBeNull();
  });

  test("shows none of its screens before that is known", async () => {
    act(() => chooseWorkspace("gone"));
    show(frame(<p>Screens</p>));
    expect(screen.queryByText("Screens")).toBeNull();
    await screen.findByText("Screens");
    expect(screen.getByText(/does not exist, or is not shared/)).toBeTruthy();
    expect(window.sessionStorage.getItem("citewell.project")).toBeNull();
  });
});

describe("a session that ends", () => {
  test("does not count as the end of sharing: the same owner goes on in the project", async () => {
    act(() => chooseWorkspace("p1"));
    vi.stubGlobal("fetch", async () =>
      Response.json({ error: { code: "unauthorized", message: "no" } }, { status: 401 }),
    );
    show(frame(<p>Screens</p>));
    await screen.findByRole("alert");
    expect(screen.queryByText("Screens")).toBeNull();
    expect(presentWorkspace()).toBe("p1");
    expect(window.sessionStorage.getItem("citewell.project")).not.toBeNull();
  });
});

describe("the upload dialog", () => {
  test("names the project that it was opened in, whose projects are not for the member to choose", async () => {
    act(() => chooseWorkspace("p1"));
    show(frame(<UploadDialog />));
    await switcher();
    act(() => openUploadDialog());
    const dialog = screen.getByRole("dialog", { name: "Add files" });
    expect(dialog.textContent).toContain("Files go to “Kitchen”, shared by Ada.");
    expect(within(dialog).queryByLabelText("Project")).toBeNull();
    act(() => chooseWorkspace(null));
    act(() => openUploadDialog([new File(["1"], "a.txt")]));
    expect(uploadDialog.get().workspace).toBe("p1");
  });

  test("says nothing of it in one's own files", async () => {
    show(frame(<UploadDialog />));
    await switcher();
    act(() => openUploadDialog());
    const dialog = screen.getByRole("dialog", { name: "Add files" });
    expect(within(dialog).getByLabelText("Project")).toBeTruthy();
    expect(dialog.textContent).not.toContain("Files go to");
  });
});

describe("files that are ticked", () => {
  test.each([
    ["one's own", ["mine"], true],
    ["an editor's", ["p1"], true],
    ["a viewer's", ["p2"], false],
    ["an editor's, which another project has too", ["p1", "other"], false],
  ])("are %s: what may be done with them", async (_, projects, may) => {
    show(frame(<SelectionBar chosen={[file(...projects)]} onDelete={() => undefined} onClear={() => undefined} />));
    await switcher();
    expect(screen.getByRole("button", { name: "Ask about these" })).toBeTruthy();
    for (const name of ["Reindex", "Delete"]) expect(screen.queryByRole("button", { name }) !== null).toBe(may);
  });
});
