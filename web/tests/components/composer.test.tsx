// @vitest-environment happy-dom
import { act, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Composer } from "../../src/chat/Composer";
import { pendingText } from "../../src/chat/pending";
import { EVERYTHING } from "../../src/chat/scope";
import { liveTurns } from "../../src/chat/turns";
import { show } from "./rendering";

const onSubmit = vi.fn<(question: string) => void>();
const onScope = vi.fn();
const composer = (isBusy = false) => (
  <Composer threadId="t1" scope={EVERYTHING} isBusy={isBusy} onScope={onScope} onSubmit={onSubmit} />
);
const field = (): HTMLTextAreaElement => screen.getByRole("textbox", { name: "Your question" });

beforeEach(() => {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ projects: [], resources: [], next_cursor: null })));
});
afterEach(() => {
  onSubmit.mockReset();
  act(() => {
    liveTurns.set({});
    pendingText.set("");
  });
});

describe("the composer", () => {
  test("sends with Enter, without the spaces around, and is empty for the next question", async () => {
    const { user } = show(composer());
    await user.type(field(), "  How long is the notice? {Enter}");
    expect(onSubmit.mock.calls).toEqual([["How long is the notice?"]]);
    expect(field().value).toBe("");
    await user.keyboard("{Enter}");
    expect(onSubmit).toHaveBeenCalledTimes(1);
  });

  test("says of a document that cannot answer why, in place of its size", async () => {
    const file = { type: "pdf", identifier: null, file_size_bytes: 2_000, created_at: "2026-01-31T00:00:00Z" };
    const resources = [
      { ...file, id: "r1", filename: "locked.pdf", status: "failed" },
      { ...file, id: "r2", filename: "policy.pdf", status: "indexed" },
    ];
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ projects: [], resources, next_cursor: null })));
    const { user } = show(composer());
    await user.click(screen.getByRole("button", { name: "Attach or filter" }));
    await user.click(await screen.findByRole("menuitem", { name: "Select a document" }));
    expect((await screen.findByRole("option", { name: /locked/ })).textContent).toBe("locked.pdfFailed");
    expect(screen.getByRole("option", { name: /policy/ }).textContent).toBe("policy.pdf2 kB");
  });

  test("begins a line with Shift+Enter", async () => {
    const { user } = show(composer());
    await user.type(field(), "one{Shift>}{Enter}{/Shift}two");
    expect(field().value).toBe("one\ntwo");
    expect(onSubmit).not.toHaveBeenCalled();
  });

  test("leaves the Enter that ends a composition to the input method", async () => {
    const { user } = show(composer());
    await user.type(field(), "にほん");
    fireEvent.keyDown(field(), { key: "Enter", isComposing: true });
    expect(onSubmit).not.toHaveBeenCalled();
    fireEvent.keyDown(field(), { key: "Enter" });
    expect(onSubmit).toHaveBeenCalledWith("にほん");
  });

  test("sends a question while an answer comes, to wait for its turn", async () => {
    const { user } = show(composer(true));
    await user.type(field(), "And in winter?");
    await user.click(screen.getByRole("button", { name: "Send after this answer" }));
    expect(onSubmit).toHaveBeenCalledWith("And in winter?");
    expect(field().value).toBe("");
  });

  test.each([
    ["Escape", async (press: (keys: string) => Promise<void>) => press("{Escape}")],
    ["its button", async () => fireEvent.click(screen.getByRole("button", { name: "Stop" }))],
  ])("stops the answer with %s", async (_, stop) => {
    liveTurns.set({
      t1: { question: "Q", workspace: null, scope: EVERYTHING, ignored: [], text: "So far", phase: "streaming" },
    });
    const { user } = show(composer(true));
    await user.click(field());
    await stop((keys) => user.keyboard(keys));
    expect(liveTurns.get().t1).toMatchObject({ phase: "stopped", text: "So far" });
  });

  test("takes over words that another screen prepared, once", () => {
    const { again } = show(composer());
    act(() => pendingText.set("About “the fee”: "));
    expect(field().value).toBe("About “the fee”: ");
    expect(document.activeElement).toBe(field());
    fireEvent.change(field(), { target: { value: "" } });
    again(composer());
    expect(field().value).toBe("");
  });
});
