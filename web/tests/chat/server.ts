// As much of the server as turns need: one thread, and answers that break off where a test says.
import { vi } from "vitest";

interface StoredMessage {
  id: string;
  role: "user" | "assistant";
  content: string;
  created_at: string;
  citations: never[];
  details: Record<string, unknown>;
}

interface Asked {
  message: string;
  thread_id: string;
  project: string | null;
  resource_ids: string[] | null;
  filters: unknown[];
  ignore_inferred: string[] | boolean;
  time_zone: string;
}

/** What becomes of one question. */
export type Behaviour = (server: FakeServer, asked: Asked, signal: AbortSignal) => Response;

export class FakeServer {
  messages: StoredMessage[] = [];
  titles: string[] = [];
  asked: Asked[] = [];
  /** Whose project each question was about; null for the asker's own files. */
  projects: (string | null)[] = [];
  takenBack: string[] = [];
  /** One for each question in order; the last one holds for all that follow. */
  behaviours: Behaviour[] = [];
  /** Statuses of the next answers to anything but a question; 0 is no answer at all. */
  faults: number[] = [];

  constructor() {
    const inside = Request;
    vi.stubGlobal(
      "Request",
      class extends inside {
        constructor(input: RequestInfo | URL, init?: RequestInit) {
          super(typeof input === "string" ? new URL(input, "http://citewell.test") : input, init);
        }
      },
    );
    vi.stubGlobal("fetch", (input: string | Request, init?: RequestInit) => this.answer(input, init));
  }

  add(role: StoredMessage["role"], content: string, details: Record<string, unknown> = {}): StoredMessage {
    const id = `m${this.messages.length + this.takenBack.length + 1}`;
    const message: StoredMessage = { id, role, content, created_at: "2026-01-31T00:00:00Z", citations: [], details };
    this.messages.push(message);
    return message;
  }

  private async answer(input: string | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (pathname === "/chat") {
      const asked = (await request.json()) as Asked;
      this.asked.push(asked);
      this.projects.push(request.headers.get("X-Citewell-Project"));
      const behaviour = this.behaviours.length > 1 ? this.behaviours.shift() : this.behaviours[0];
      if (!behaviour) throw new Error("no question was expected");
      return behaviour(this, asked, init?.signal ?? request.signal);
    }
    const fault = this.faults.shift();
    if (fault === 0) throw new TypeError("fetch failed");
    if (fault) return refusal(fault);
    if (pathname.endsWith("/stop")) return new Response(null, { status: 204 });
    if (request.method === "POST") {
      const { title } = (await request.json()) as { title: string };
      this.titles.push(title);
      return Response.json({ id: "t1", title, scope: {}, created_at: "", updated_at: "" }, { status: 201 });
    }
    if (request.method === "DELETE") {
      const id = pathname.split("/").at(-1) ?? "";
      const at = this.messages.findIndex((message) => message.id === id);
      if (at < 0) return refusal(404);
      this.takenBack.push(...this.messages.splice(at).map((message) => message.id));
      return new Response(null, { status: 204 });
    }
    return Response.json({
      id: "t1",
      title: "",
      scope: {},
      created_at: "",
      updated_at: "",
      messages: this.messages,
      answering: false,
    });
  }
}

export function refusal(status: number, message = `refused with ${status}`): Response {
  return Response.json({ error: { code: "refused", message, details: {} } }, { status });
}

/** The whole answer, kept in the thread. */
export const answers =
  (...pieces: string[]): Behaviour =>
  (server, { message }) => {
    server.add("user", message);
    server.add("assistant", pieces.join(""));
    return lines([...pieces.map((stream) => ({ stream })), { done: {} }]);
  };

/** Some of the answer, then no connection; `kept` says what the thread has of it. */
export const breaksOff =
  (pieces: string[], kept: "nothing" | "question" | "stopped" | "finished"): Behaviour =>
  (server, { message }) => {
    if (kept !== "nothing") server.add("user", message);
    if (kept === "stopped") server.add("assistant", pieces.join(""), { stopped: true });
    if (kept === "finished") server.add("assistant", `${pieces.join("")} And the rest.`);
    return lines(pieces.map((stream) => ({ stream })));
  };

/** Parts of long files are read, and then there is silence until it is stopped. */
export const reads =
  (...done: number[]): Behaviour =>
  (_, __, signal) =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const one of done) controller.enqueue(encoded({ progress: { done: one, total: 12 } }));
          signal.addEventListener("abort", () => controller.error(new DOMException("stopped", "AbortError")));
        },
      }),
    );

/** Some of the answer, and then silence until it is stopped. */
export const hangs =
  (...pieces: string[]): Behaviour =>
  (_, __, signal) =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const stream of pieces) controller.enqueue(encoded({ stream }));
          signal.addEventListener("abort", () => controller.error(new DOMException("stopped", "AbortError")));
        },
      }),
    );

export const unreachable: Behaviour = () => {
  throw new TypeError("fetch failed");
};

export function lines(events: object[]): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const event of events) controller.enqueue(encoded(event));
        controller.close();
      },
    }),
  );
}

const encoded = (event: object): Uint8Array => new TextEncoder().encode(`${JSON.stringify(event)}\n`);
