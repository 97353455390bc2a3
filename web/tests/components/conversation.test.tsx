// @vitest-environment happy-dom

import { useQuery } from "@tanstack/react-query";
import { act, screen, waitFor, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { threadQuery } from "../../src/api/queries";
import { Conversation } from "../../src/chat/Conversation";
import { EVERYTHING } from "../../src/chat/scope";
import { liveTurns, startTurn, stopTurn } from "../../src/chat/turns";
import { useStore } from "../../src/lib/store";
import { answers, FakeServer, hangs, reads, refusal } from "../chat/server";
import { show } from "./rendering";

const QUESTION = "How long is the notice?";

function Chat(): ReactNode {
  const thread = useQuery(threadQuery("t1"));
  const live = useStore(liveTurns, (all) => all.t1);
  return thread.data ? <Conversation thread={thread.data} live={live} /> : null;
}

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});
afterEach(() => act(() => liveTurns.set({})));

const ask = (): Promise<void> => act(async () => void startTurn("t1", QUESTION, EVERYTHING));
const reply = (): HTMLElement => screen.getByRole("article", { name: "Answer" });

describe("a conversation", () => {
  test("shows the question at once and the answer as it comes, without its markers", async () => {
    server.behaviours = [hangs("Thirty days", " [1].")];
    show(<Chat />);
    await screen.findByRole("log");
    await ask();
    expect(screen.getByRole("article", { name: "You asked" }).textContent).toBe(QUESTION);
    await waitFor(() => expect(reply().textContent).toContain("Thirty days."));
    expect(reply().getAttribute("aria-busy")).toBe("true");
    expect(within(reply()).queryByRole("button")).toBeNull();
    act(() => stopTurn("t1"));
  });

  test("keeps what came before it was stopped, and asks again in its place", async () => {
    server.behaviours = [hangs("Thirty"), answers("Thirty days.")];
    const { user } = show(<Chat />);
    await screen.findByRole("log");
    await ask();
    await waitFor(() => expect(reply().textContent).toContain("Thirty"));
    act(() => stopTurn("t1"));
    expect(reply().textContent).toContain("Thirty");
    expect(reply().textContent).toContain("Stopped");
    expect(reply().getAttribute("aria-busy")).toBe("false");

    await user.click(screen.getByRole("button", { name: "Ask again" }));
    await waitFor(() => expect(reply().textContent).toContain("Thirty days."));
    expect(screen.getAllByRole("article", { name: "You asked" })).toHaveLength(1);
    expect(screen.queryByText("Stopped")).toBeNull();
    await screen.findByRole("button", { name: "Copy with citations" });
  });

  test("takes back the question that the server kept of a stopped answer before asking again", async () => {
    const kept = server.add("user", QUESTION);
    server.add("assistant", "Thir", { stopped: true });
    server.behaviours = [answers("Thirty days.")];
    const { user } = show(<Chat />);
    expect((await screen.findByRole("article", { name: "Answer" })).textContent).toContain("Stopped");
    await user.click(screen.getByRole("button", { name: "Ask again" }));
    await waitFor(() => expect(reply().textContent).toContain("Thirty days."));
    expect(server.takenBack).toContain(kept.id);
    expect(screen.getAllByRole("article", { name: "You asked" })).toHaveLength(1);
  });

  test("says why the server refused, with a way to ask again", async () => {
    server.behaviours = [() => refusal(429, "Too many questions."), answers("Thirty days.")];
    const { user } = show(<Chat />);
    await screen.findByRole("log");
    await ask();
    await waitFor(() => expect(reply().textContent).toContain("Too many questions."));
    await user.click(screen.getByRole("button", { name: "Ask again" }));
    await waitFor(() => expect(reply().textContent).toContain("Thirty days."));
    expect(screen.queryByText("Too many questions.")).toBeNull();
  });

  test("shows how far long files have been read before the first word", async () => {
    server.behaviours = [reads(0, 4)];
    show(<Chat />);
    await screen.findByRole("log");
    await ask();
    const bar = await screen.findByRole("progressbar");
    await waitFor(() => expect(bar.getAttribute("aria-valuenow")).toBe("4"));
    expect(bar.getAttribute("aria-valuemax")).toBe("12");
    expect(reply().textContent).toContain("part 5 of 12");
    act(() => stopTurn("t1"));
    expect(screen.queryByRole("progressbar")).toBeNull();
  });

  test("shows what the question was read to say of the files, and asks again without what is taken off", async () => {
    const inferred = (id: string, applied: boolean) => ({
      id,
      label: `${id}: 7`,
      words: `on ${id}`,
      applied,
      filter: {},
    });
    const asked = server.add("user", QUESTION, { ignore_inferred: ["date"] });
    server.add("assistant", "Thirty days.", { inferred_filters: [inferred("page", true), inferred("tag", false)] });
    server.behaviours = [answers("Sixty days.")];
    const { user } = show(<Chat />);
    const group = await screen.findByRole("group", { name: "Filters from the query" });
    expect(within(group).getAllByRole("button")).toHaveLength(1);
    expect(group.textContent).toContain("tag: 7 (no matches)");
    await user.click(within(group).getByRole("button", { name: "Answer again without page: 7" }));
    await waitFor(() => expect(reply().textContent).toContain("Sixty days."));
    expect(server.takenBack).toContain(asked.id);
    expect(server.asked.map(({ ignore_inferred }) => ignore_inferred)).toEqual([["date", "page"]]);
  });
});
