// A typed client: `api` has every call of the OpenAPI document; the methods are what most programs need.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type Answer = Schemas["ChatOut"];
export type Citation = Schemas["CitationOut"];
export type Resource = Schemas["ResourceOut"];
export type Hits = Schemas["SearchOut"];
export type Question = Partial<Omit<Schemas["ChatIn"], "message" | "stream" | "protocol">>;
export type Query = Partial<Omit<Schemas["SearchIn"], "query">>;

/** A line of a streamed answer; the last is `done`. */
export type Line = { stream: string } | { progress: { done: number; total: number } } | { done: Answer };

/** The server's answer to a request that failed. `code` is stable, `message` is for people. */
export class CitewellError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "CitewellError";
  }
}

export interface Options {
  /** Where the server is, such as `http://127.0.0.1:8000`. */
  baseUrl: string;
  /** From `citewell token`, or a service account's key. */
  token: string;
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

const WORKING = ["uploaded", "extracting", "extracted", "indexing", "embedding"];

export class Citewell {
  /** Every call of the API: `api.GET("/projects")`. */
  readonly api: Client<paths>;
  private readonly baseUrl: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly fetch: typeof globalThis.fetch;

  constructor({ baseUrl, token, fetch = globalThis.fetch }: Options) {
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.headers = { Authorization: `Bearer ${token}` };
    this.fetch = fetch;
    this.api = createClient<paths>({ baseUrl: this.baseUrl, headers: this.headers, fetch: (request) => fetch(request) });
  }

  /** Upload a file and wait until it can be searched, or cannot: see its `status`. */
  async add(file: Blob, filename: string, options: { project?: string; metadata?: object } = {}): Promise<Resource> {
    const form = new FormData();
    form.set("file", file, filename);
    if (options.project !== undefined) form.set("project", options.project);
    if (options.metadata) form.set("metadata", JSON.stringify(options.metadata));
    const request = { method: "POST", headers: this.headers, body: form };
    const response = await this.fetch(`${this.baseUrl}/ingest`, request);
    if (!response.ok) throw await errorOf(response);
    const { id } = (await response.json()) as Resource;
    for (;;) {
      const resource = await this.resource(id);
      if (!WORKING.includes(resource.status)) return resource;
      await new Promise((resume) => setTimeout(resume, 500));
    }
  }

  async resource(id: string): Promise<Resource> {
    const { data, error, response } = await this.api.GET("/resources/{resource_id}", {
      params: { path: { resource_id: id } },
    });
    return data ?? fail(error, response);
  }

  /** Passages, best first. */
  async search(query: string, options: Query = {}): Promise<Hits> {
    const { data, error, response } = await this.api.POST("/search", { body: { ...options, query } as Schemas["SearchIn"] });
    return data ?? fail(error, response);
  }

  /** An answer with checked citations. For a follow-up, pass the `thread_id` of the answer before. */
  async ask(message: string, options: Question = {}): Promise<Answer> {
    const { data, error, response } = await this.api.POST("/chat", { body: { ...options, message } as Schemas["ChatIn"] });
    return data ?? fail(error, response);
  }

  /** The same, as it is written. */
  async *stream(message: string, options: Question = {}): AsyncGenerator<Line> {
    const response = await this.fetch(`${this.baseUrl}/chat`, {
      method: "POST",
      headers: { ...this.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ ...options, message, stream: true }),
    });
    if (!response.ok || !response.body) throw await errorOf(response);
    const reader = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) if (line.trim()) yield lineOf(line);
      if (done) return;
    }
  }

  /** Where the web interface opens the cited passage. */
  link(citation: Pick<Citation, "resource_id" | "chunk_id">): string {
    return `${this.baseUrl}/library/${citation.resource_id}?passage=${citation.chunk_id}`;
  }
}

function lineOf(text: string): Line {
  const line = JSON.parse(text) as Line | { error: Schemas["ErrorBody"] };
  if ("error" in line) throw new CitewellError(line.error.message, line.error.code, 200, line.error.details);
  return line;
}

async function errorOf(response: Response): Promise<CitewellError> {
  const body: unknown = await response.json().catch(() => undefined);
  return made(body, response);
}

function fail(body: unknown, response: Response): never {
  throw made(body, response);
}

function made(body: unknown, { status }: Response): CitewellError {
  const error = (body as Partial<Schemas["ErrorResponse"]> | undefined)?.error;
  return new CitewellError(error?.message ?? `The server answered ${status}.`, error?.code ?? "http_error", status, error?.details);
}
