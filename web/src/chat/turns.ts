// Turns under way. They belong to no screen: an answer goes on streaming while one looks elsewhere.

import { ask, type ChatRequest, Interrupted } from "../api/chat";
import { ApiError, api, type Message, type Schemas, type Thread, unwrap } from "../api/client";
import { queryClient, threadQuery } from "../api/queries";
import { presentWorkspace, type WorkspaceId } from "../api/workspace";
import { sent } from "../filters/filters";
import { timeZone } from "../lib/format";
import { createStore } from "../lib/store";
import { t } from "../strings";
import type { Scope } from "./scope";

export type Ignored = readonly string[] | true;

export interface LiveTurn {
  question: string;
  /** Whose files it is about, whatever is shown meanwhile. */
  workspace: WorkspaceId;
  scope: Scope;
  /** Ids of filters that are not to be read from the question; true for none at all. */
  ignored: Ignored;
  /** Parts of long files that have been read for the answer. */
  progress?: { done: number; total: number };
  /** What your own model has been sent, and how long it usually takes. */
  reading?: { tokens: number; seconds: number | null };
  text: string;
  phase: "thinking" | "streaming" | "reconnecting" | "stopped" | "failed";
  problem?: string;
}

const TITLE = 80;
const PAUSES = [300, 700, 1_500, 3_000, 5_000, 5_000, 10_000, 10_000, 15_000, 15_000];

export const liveTurns = createStore<Readonly<Record<string, LiveTurn>>>({});
const controllers = new Map<string, AbortController>();

function change(threadId: string, values: Partial<LiveTurn>): void {
  liveTurns.set((all) => {
    const present = all[threadId];
    return present ? { ...all, [threadId]: { ...present, ...values } } : all;
  });
}

function finish(threadId: string): void {
  liveTurns.set(({ [threadId]: _, ...rest }) => rest);
  controllers.delete(threadId);
}

/** A thread named after its first question; it exists before the answer does, so that nothing is lost on the way. */
export async function beginThread(question: string): Promise<Thread> {
  const words = question.trim().replace(/\s+/g, " ");
  const title = words.length > TITLE ? `${words.slice(0, TITLE - 1)}…` : words;
  const thread = await unwrap(api.POST("/threads", { body: { title } }));
  queryClient.setQueryData(threadQuery(thread.id).queryKey, { ...thread, messages: [], answering: false });
  void queryClient.invalidateQueries({ queryKey: ["threads"] });
  return thread;
}

/** Ask in a thread; resolves when the answer is in it, or when it was stopped or failed. */
export async function startTurn(
  threadId: string,
  question: string,
  scope: Scope,
  ignored: Ignored = [],
  workspace: WorkspaceId = presentWorkspace(),
  repeat = true,
): Promise<void> {
  const controller = new AbortController();
  controllers.set(threadId, controller);
  const asked = { question, workspace, scope, ignored, repeat };
  liveTurns.set((all) => ({
    ...all,
    [threadId]: { question, workspace, scope, ignored, text: "", phase: "thinking" },
  }));
  try {
    await withResuming(threadId, asked, controller.signal);
    if (controller.signal.aborted) return;
    await refresh(threadId);
    finish(threadId);
    askNext(threadId);
  } catch (error) {
    if (controller.signal.aborted) return;
    change(threadId, { phase: "failed", problem: problemOf(error, scope) });
    controllers.delete(threadId);
  }
}

/** What a failed turn says. The server names a file that is gone by its id, which nobody knows it by. */
function problemOf(error: unknown, scope: Scope): string {
  if (!(error instanceof ApiError)) return t.noConnection;
  return error.status === 404 && scope.resource_ids?.length ? t.scopeDeleted : error.message;
}

/** End the answer where it is, here and on the server; what has come so far stays, on the screen and in the thread. */
export function stopTurn(threadId: string): void {
  change(threadId, { phase: "stopped" });
  controllers.get(threadId)?.abort();
  controllers.delete(threadId);
  // A server that does not hear it finishes the answer, which is in the thread then.
  void stopThere(threadId).catch(() => undefined);
}

async function stopThere(threadId: string): Promise<void> {
  await unwrap(api.POST("/threads/{thread_id}/stop", { params: { path: { thread_id: threadId } } }));
  if (!waitingQuestions.get()[threadId]?.length) return;
  await refresh(threadId);
  askNext(threadId);
}

/** Questions that wait for the answer before them, by thread. */
export const waitingQuestions = createStore<Readonly<Record<string, readonly Asked[]>>>({});

/** Ask once the answers under way are there. */
export function askLater(threadId: string, asked: Asked): void {
  waitingQuestions.set((all) => ({ ...all, [threadId]: [...(all[threadId] ?? []), asked] }));
}

/** Take back a question that waits. */
export function dropWaiting(threadId: string, asked: Asked): void {
  waitingQuestions.set((all) => ({ ...all, [threadId]: (all[threadId] ?? []).filter((one) => one !== asked) }));
}

function askNext(threadId: string): void {
  const [next] = waitingQuestions.get()[threadId] ?? [];
  if (!next) return;
  dropWaiting(threadId, next);
  void startTurn(threadId, next.question, next.scope, next.ignored, next.workspace);
}

/** Forget a stopped or failed turn. */
export function dropTurn(threadId: string): void {
  finish(threadId);
}

/** What is asked, and of what. */
export type Asked = Pick<LiveTurn, "question" | "workspace" | "scope" | "ignored">;

/** A question on its way. repeat: whether the answer to an equal one may be given again. */
type Sent = Asked & { repeat: boolean };

async function stream(threadId: string, asked: Sent, signal: AbortSignal): Promise<void> {
  const { question, scope, ignored, repeat } = asked;
  const request: ChatRequest = {
    message: question,
    thread_id: threadId,
    project: scope.project ?? null,
    resource_ids: scope.resource_ids ?? null,
    filters: sent(scope.filters ?? []),
    ignore_inferred: ignored === true || [...ignored],
    time_zone: timeZone(),
    references: false,
    repeat,
    debug: false,
    stream: true,
    protocol: "ndjson",
    detached: true,
  };
  let text = "";
  for await (const event of ask(request, signal, asked.workspace)) {
    if ("stream" in event) {
      text += event.stream;
      change(threadId, { text, phase: "streaming" });
    } else if ("restart" in event) {
      text = "";
      change(threadId, { text, phase: "thinking" });
    } else if ("reading" in event) {
      change(threadId, { reading: event.reading });
    } else if ("progress" in event) {
      change(threadId, { progress: event.progress });
    } else if ("error" in event) {
      throw new ApiError(event.error.message, event.error.code, 500);
    }
  }
}

/** Whether an error says that the server, or a proxy in front of it, is unavailable at the moment. */
function isAway(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 502 && error.status <= 504;
  return error instanceof Interrupted || error instanceof TypeError;
}

/** The question at the end of a thread that has no whole answer yet: none at all, or one that was left in the middle. */
export function openQuestion(messages: readonly Message[], question: string): Message | undefined {
  const last = messages.at(-1);
  const asked = isStopped(last) ? messages.at(-2) : last;
  return asked?.role === "user" && asked.content === question ? asked : undefined;
}

/** Whether an answer was left before its end. */
export function isStopped(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.details.stopped === true;
}

async function withResuming(threadId: string, asked: Sent, signal: AbortSignal): Promise<void> {
  const { question } = asked;
  const before = queryClient.getQueryData(threadQuery(threadId).queryKey)?.messages.at(-1)?.id;
  for (const pause of [0, ...PAUSES]) {
    try {
      if (pause) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        if (signal.aborted || (await isAnswered(threadId, question, before)) || signal.aborted) return;
        change(threadId, { phase: "thinking", text: "" });
      }
      await stream(threadId, asked, signal);
      return;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (signal.aborted) return;
      // What has been said so far stays in sight until it is said again.
      change(threadId, { phase: "reconnecting" });
    }
  }
  throw new Interrupted("the server stays away");
}

/** Whether the answer was finished without us. A question left without an answer is taken back, to be asked again. */
async function isAnswered(threadId: string, question: string, before: string | undefined): Promise<boolean> {
  const { messages } = await settled(threadId);
  const last = messages.at(-1);
  const isOurs = last?.role === "assistant" && last.id !== before && messages.at(-2)?.content === question;
  if (isOurs && last.content && !isStopped(last)) return true;
  const open = openQuestion(messages, question);
  if (open) await takeBack(threadId, open.id);
  return false;
}

/** The thread once the server is not writing an answer in it. */
async function settled(threadId: string): Promise<Schemas["ThreadWithMessages"]> {
  for (;;) {
    const thread = await unwrap(api.GET("/threads/{thread_id}", { params: { path: { thread_id: threadId } } }));
    if (!thread.answering) return thread;
    await new Promise((resolve) => setTimeout(resolve, PAUSES[1]));
  }
}

/** Remove a message and all that came after it. */
export async function takeBack(threadId: string, messageId: string): Promise<void> {
  await unwrap(
    api.DELETE("/threads/{thread_id}/messages/{message_id}", {
      params: { path: { thread_id: threadId, message_id: messageId } },
    }),
  );
  queryClient.setQueryData(threadQuery(threadId).queryKey, (thread) => {
    const place = thread?.messages.findIndex((message) => message.id === messageId) ?? -1;
    return thread && place >= 0 ? { ...thread, messages: thread.messages.slice(0, place) } : thread;
  });
}

/** Read a thread again, and the list that it is in. A request that is already under way may have been answered too early, so it is not waited for. */
export async function refresh(threadId: string): Promise<Schemas["ThreadWithMessages"]> {
  void queryClient.invalidateQueries({ queryKey: ["threads"] });
  const thread = await unwrap(api.GET("/threads/{thread_id}", { params: { path: { thread_id: threadId } } }));
  const { queryKey } = threadQuery(threadId);
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, thread);
  return thread;
}
