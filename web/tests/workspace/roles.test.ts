import { describe, expect, test } from "vitest";
import { within } from "../../src/chat/scope";
import { screenAfter } from "../../src/workspace/switching";
import { mayAdd, mayChange, type SharedProject, workspaceOf } from "../../src/workspace/workspaces";

const project = (id: string, role: SharedProject["role"]): SharedProject => ({
  id,
  name: id,
  owner: "ada",
  owner_name: "Ada",
  role,
});
const EDITED = project("edited", "editor");
const VIEWED = project("viewed", "viewer");
const SHARED = [EDITED, VIEWED];
const file = (...project_ids: string[]) => ({ project_ids });

describe("a role", () => {
  test("decides whether files may be added", () => {
    expect([null, EDITED, VIEWED, project("x", "owner")].map(mayAdd)).toEqual([true, true, false, true]);
  });

  test("decides whether a file may be changed: an editor's only where no other project has it", () => {
    expect(mayChange(file("edited"), SHARED)).toBe(true);
    expect(mayChange(file("viewed"), SHARED)).toBe(false);
    expect(mayChange(file("edited", "viewed"), SHARED)).toBe(false);
    expect(mayChange(file("edited", "another of the owner's"), SHARED)).toBe(false);
  });

  test("is nothing to one's own files", () => {
    expect(mayChange(file("mine"), SHARED)).toBe(true);
    expect(mayChange(file(), SHARED)).toBe(true);
  });
});

describe("the workspace", () => {
  test("of a file is the one that is shown, if the file is there", () => {
    expect(workspaceOf(file("mine"), SHARED, "edited")).toBeNull();
    expect(workspaceOf(file("viewed"), SHARED, null)).toBe("viewed");
    expect(workspaceOf(file("edited", "viewed"), SHARED, "viewed")).toBe("viewed");
    expect(workspaceOf(file("edited", "viewed"), SHARED, null)).toBe("edited");
  });

  test("of a question is the shared project of its scope; a project of one's own stays its scope", () => {
    const isShared = (id: string): boolean => id === "edited";
    expect(within({ project: "edited", resource_ids: ["r"] }, isShared)).toEqual({
      workspace: "edited",
      scope: { resource_ids: ["r"] },
    });
    expect(within({ project: "mine" }, isShared)).toEqual({ workspace: null, scope: { project: "mine" } });
    expect(within({}, isShared)).toEqual({ workspace: null, scope: {} });
  });

  test("that is left takes its chats and files off the screen", () => {
    expect(["/conversations/t", "/library/r", "/library", "/playground", "/"].map(screenAfter)).toEqual([
      "/",
      "/library",
      "/library",
      "/playground",
      "/",
    ]);
  });
});
