// One question and its answer as it streams in.
import { ApiError, type ChatAnswer, type Schemas, request as send } from "./client";
import { readLines } from "./ndjson";
import type { WorkspaceId } from "./workspace";

export type ChatRequest = Schemas["ChatIn"];
export type ChatEvent =
  | { stream: string }
  | { inferred_filters: Schemas["InferredFilterOut"][] }
  | { used_docs: unknown[] }
  | { restart: true }
  | { reading: { tokens: number; seconds: number | null } }
  | { progress: { done: number; total: number } }
  | { done: ChatAnswer }
  | { error: { code: string; message: string } };

/** The connection ended before the answer did. */
export class Interrupted extends Error {}

/** Events of the answer; raises `ApiError` when the server refuses, `Interrupted` when the connection breaks off. */
export async function* ask(
  request: ChatRequest,
  signal: AbortSignal,
  workspace: WorkspaceId,
): AsyncGenerator<ChatEvent> {
  let ended = false;
  try {
    const { body } = await send(
      "/chat",
      {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...request, stream: true }),
        signal,
      },
      workspace,
    );
    for await (const line of readLines(body)) {
      const event = line as ChatEvent;
      ended ||= "done" in event || "error" in event;
      yield event;
    }
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    throw new Interrupted(String(error));
  }
  if (!ended) throw new Interrupted("the answer has no end");
}
