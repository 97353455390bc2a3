import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Schemas } from "../../src/api/client";
import type { LiveTurn } from "../../src/chat/turns";
import { answers, breaksOff, FakeServer, hangs, lines, refusal, unreachable } from "./server";

type Turns = typeof import("../../src/chat/turns");
type Thread = Schemas["ThreadWithMessages"];
const QUESTION = "How long is the notice?";
const WAITED_OUT = 90_000;

let server: FakeServer;
let turns: Turns;
let seen: LiveTurn[];

beforeEach(async () => {
  vi.useFakeTimers();
  server = new FakeServer();
  // The client takes the browser's `fetch` when it is imported.
  vi.resetModules();
  turns = await import("../../src/chat/turns");
  seen = [];
  turns.liveTurns.subscribe(() => {
    const live = turns.liveTurns.get().t1;
    if (live) seen.push(live);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const live = (): LiveTurn | undefined => turns.liveTurns.get().t1;
const phases = (): string[] => seen.map(({ phase }) => phase).filter((phase, at, all) => phase !== all[at - 1]);

/** Ask, and let every pause pass. */
async function ask(scope = {}): Promise<void> {
  const turn = turns.startTurn("t1", QUESTION, scope);
  await vi.advanceTimersByTimeAsync(WAITED_OUT);
  await turn;
}

describe("a turn", () => {
  it("shows the question at once, then its answer as it grows, and leaves it to the thread", async () => {
    server.behaviours = [answers("Thirty ", "days.")];
    await ask();
    expect(seen[0]).toEqual({
      question: QUESTION,
      workspace: null,
      scope: {},
      ignored: [],
      text: "",
      phase: "thinking",
    });
    expect([...new Set(seen.map(({ text }) => text))]).toEqual(["", "Thirty ", "Thirty days."]);
    expect(phases()).toEqual(["thinking", "streaming"]);
    expect(live()).toBeUndefined();
  });

  it("asks within its scope", async () => {
    server.behaviours = [answers("Yes.")];
    await ask({ resource_ids: ["r1"] });
    await ask({ project: "p1" });
    await ask();
    expect(server.asked.map(({ project, resource_ids }) => [project, resource_ids])).toEqual([
      [null, ["r1"]],
      ["p1", null],
      [null, null],
    ]);
  });

  it("asks about the workspace that it was begun in, also when it is asked once more after one has left", async () => {
    const { chooseWorkspace } = await import("../../src/api/workspace");
    chooseWorkspace("p1");
    server.behaviours = [breaksOff(["Thirty"], "nothing"), answers("Thirty days.")];
    const turn = turns.startTurn("t1", QUESTION, {});
    chooseWorkspace(null);
    await vi.advanceTimersByTimeAsync(WAITED_OUT);
    await turn;
    expect(server.projects).toEqual(["p1", "p1"]);
    await ask();
    expect(server.projects.at(-1)).toBeNull();
  });

  it("asks within filters, leaving out what is not to be read from the question, and says where it is asked", async () => {
    server.behaviours = [answers("Yes.")];
    const filters = [{ field: "metadata.camera", operator: "eq", value: "Leica" }];
    await ask({ filters });
    const turn = turns.startTurn("t1", QUESTION, {}, ["date"]);
    await vi.advanceTimersByTimeAsync(WAITED_OUT);
    await turn;
    expect(server.asked.map((asked) => [asked.filters, asked.ignore_inferred])).toEqual([
      [filters, []],
      [[], ["date"]],
    ]);
    expect(server.asked[0]?.time_zone).toBe(new Intl.DateTimeFormat("en-GB").resolvedOptions().timeZone);
  });

  it("says why the server refused, and does not ask again", async () => {
    server.behaviours = [() => refusal(429, "Too many questions.")];
    await ask();
    expect(live()).toMatchObject({ phase: "failed", problem: "Too many questions.", question: QUESTION });
    expect(server.asked).toHaveLength(1);
  });

  it("keeps what was said before the model failed, with the reason", async () => {
    server.behaviours = [
      () => lines([{ stream: "Thirty" }, { error: { code: "chat_failed", message: "The model is gone." } }]),
    ];
    await ask();
    expect(live()).toMatchObject({ phase: "failed", text: "Thirty", problem: "The model is gone." });
    expect(server.asked).toHaveLength(1);
  });

  it("is in the thread although an older request for the thread is still under way", async () => {
    const { queryClient, threadQuery } = await import("../../src/api/queries");
    const { queryKey } = threadQuery("t1");
    const tooEarly = { messages: [] } as unknown as Thread;
    void queryClient
      .fetchQuery({ queryKey, queryFn: () => new Promise<Thread>((give) => setTimeout(give, 1_000, tooEarly)) })
      .catch(() => undefined);
    server.behaviours = [answers("Thirty days.")];
    await ask();
    expect(queryClient.getQueryData(queryKey)?.messages.map(({ content }) => content)).toEqual([
      QUESTION,
      "Thirty days.",
    ]);
  });

  it("leaves the screen at once with all that came after its question, when it is taken back", async () => {
    const { queryClient, threadQuery } = await import("../../src/api/queries");
    const { queryKey } = threadQuery("t1");
    server.behaviours = [answers("Thirty days."), answers("A month.")];
    await ask();
    await ask();
    const third = queryClient.getQueryData(queryKey)?.messages[2]?.id ?? "";
    await turns.takeBack("t1", third);
    expect(queryClient.getQueryData(queryKey)?.messages.map(({ content }) => content)).toEqual([
      QUESTION,
      "Thirty days.",
    ]);
  });

  it("stays apart from turns of other threads", async () => {
    server.behaviours = [hangs("One"), hangs("Two")];
    void turns.startTurn("t1", "First?", {});
    await vi.advanceTimersByTimeAsync(1);
    void turns.startTurn("t2", "Second?", {});
    await vi.advanceTimersByTimeAsync(1);
    turns.stopTurn("t1");
    await vi.advanceTimersByTimeAsync(1);
    expect(turns.liveTurns.get()).toMatchObject({
      t1: { text: "One", phase: "stopped" },
      t2: { text: "Two", phase: "streaming" },
    });
    turns.stopTurn("t2");
  });
});

describe("a turn whose connection breaks", () => {
  it("asks again when the server never heard of it", async () => {
    server.behaviours = [unreachable, answers("Thirty days.")];
    await ask();
    expect(phases()).toEqual(["thinking", "reconnecting", "thinking", "streaming"]);
    expect(server.messages.map(({ content }) => content)).toEqual([QUESTION, "Thirty days."]);
    expect(live()).toBeUndefined();
  });

  it.each([502, 503, 504])("asks again when something before the server answers with %i", async (status) => {
    server.behaviours = [() => refusal(status), answers("Thirty days.")];
    await ask();
    expect(server.asked).toHaveLength(2);
    expect(live()).toBeUndefined();
  });

  it("does not ask again after an error of the server's own", async () => {
    server.behaviours = [() => refusal(500)];
    await ask();
    expect(server.asked).toHaveLength(1);
    expect(live()?.phase).toBe("failed");
  });

  it("shows what was said until it is said again", async () => {
    server.behaviours = [breaksOff(["Thirty"], "question"), answers("Thirty days.")];
    await ask();
    expect(seen.find(({ phase }) => phase === "reconnecting")?.text).toBe("Thirty");
  });

  it.each(["question", "stopped"] as const)(
    "takes back a kept %s, so that nothing is in the thread twice",
    async (kept) => {
      server.add("user", "Before?");
      server.add("assistant", "Before.");
      server.behaviours = [breaksOff(["Thirty"], kept), answers("Thirty days.")];
      await ask();
      expect(server.messages.map(({ content }) => content)).toEqual(["Before?", "Before.", QUESTION, "Thirty days."]);
      expect(live()).toBeUndefined();
    },
  );

  it("does not ask again when the answer was finished meanwhile", async () => {
    server.behaviours = [breaksOff(["Thirty."], "finished")];
    await ask();
    expect(server.asked).toHaveLength(1);
    expect(server.takenBack).toEqual([]);
    expect(live()).toBeUndefined();
  });

  it("does not take the answer to an earlier, equal question for its own", async () => {
    server.add("user", QUESTION);
    server.add("assistant", "Thirty days.");
    await turns.refresh("t1");
    server.behaviours = [unreachable, answers("Still thirty days.")];
    await ask();
    expect(server.messages.map(({ content }) => content)).toEqual([
      QUESTION,
      "Thirty days.",
      QUESTION,
      "Still thirty days.",
    ]);
  });

  it("waits on while the thread cannot be read either", async () => {
    server.behaviours = [unreachable, answers("Thirty days.")];
    server.faults = [0, 503];
    await ask();
    expect(server.asked).toHaveLength(2);
    expect(live()).toBeUndefined();
  });

  it("gives up in the end, and says so", async () => {
    server.behaviours = [unreachable];
    await ask();
    expect(live()).toMatchObject({ phase: "failed", question: QUESTION });
    expect(live()?.problem).toBeTruthy();
    expect(server.asked.length).toBeGreaterThan(5);
  });
});

describe("stopping", () => {
  it("keeps what has come so far", async () => {
    server.behaviours = [hangs("Thirty")];
    const turn = turns.startTurn("t1", QUESTION, {});
    await vi.advanceTimersByTimeAsync(1);
    turns.stopTurn("t1");
    await vi.advanceTimersByTimeAsync(WAITED_OUT);
    await turn;
    expect(live()).toMatchObject({ phase: "stopped", text: "Thirty" });
    turns.dropTurn("t1");
    expect(live()).toBeUndefined();
  });

  it("asks nothing more while it waits for the server", async () => {
    server.behaviours = [unreachable, answers("Thirty days.")];
    const turn = turns.startTurn("t1", QUESTION, {});
    await vi.advanceTimersByTimeAsync(100);
    expect(live()?.phase).toBe("reconnecting");
    turns.stopTurn("t1");
    await vi.advanceTimersByTimeAsync(WAITED_OUT);
    await turn;
    expect(server.asked).toHaveLength(1);
    expect(live()?.phase).toBe("stopped");
  });

  it("takes nothing back from the thread while it waits for the server", async () => {
    server.behaviours = [breaksOff(["Thirty"], "stopped")];
    const turn = turns.startTurn("t1", QUESTION, {});
    await vi.advanceTimersByTimeAsync(100);
    turns.stopTurn("t1");
    await vi.advanceTimersByTimeAsync(WAITED_OUT);
    await turn;
    expect(server.takenBack).toEqual([]);
    expect(live()).toMatchObject({ phase: "stopped", text: "Thirty" });
  });
});

describe("a thread that begins with a question", () => {
  it("is named after it, in one line and not too long", async () => {
    await turns.beginThread("  What\n is  the notice?  ");
    await turns.beginThread("word ".repeat(100));
    expect(server.titles[0]).toBe("What is the notice?");
    expect(server.titles[1]).toHaveLength(80);
    expect(server.titles[1]).toMatch(/…$/);
  });
});
