// The typed client: every path, parameter and answer comes from the server's own OpenAPI document.
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Resource = Schemas["ResourceOut"];
export type Thread = Schemas["ThreadOut"];
export type Message = Schemas["MessageOut"];
export type Citation = Schemas["CitationOut"];
export type Project = Schemas["ProjectOut"];
export type ChatAnswer = Schemas["ChatOut"];

/** An answer of the server that says what went wrong; `code` is stable, `message` is for people. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

let proof: string | null = null;
let owner: string | null = null;
let onSignedOut: () => void = () => undefined;

/** What requests that change something send along, and whose they are: the two change together, or a file could go to another's library. */
export function setSession(session: { csrf: string | null; owner: string | null }): void {
  proof = session.csrf;
  owner = session.owner;
}

/** The owner whose requests these are; null while nobody is signed in. */
export function signedInAs(): string | null {
  return owner;
}

/** Headers for requests that do not go through `api`. */
export function csrfHeaders(): Record<string, string> {
  return proof ? { "X-CSRF-Token": proof } : {};
}

/** Called when the server says that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

const session: Middleware = {
  onRequest({ request }) {
    if (proof && !["GET", "HEAD"].includes(request.method)) request.headers.set("X-CSRF-Token", proof);
    return request;
  },
};

export const api = createClient<paths>({ baseUrl: "" });
api.use(session);

/** The error that a failed answer carries. */
export function errorOf(body: unknown, status: number): ApiError {
  if (status === 401) {
    setSession({ csrf: null, owner: null });
    onSignedOut();
  }
  const error = (body as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | undefined)
    ?.error;
  return new ApiError(error?.message ?? `HTTP ${status}`, error?.code ?? "http_error", status, error?.details);
}

/** The data of an answer; raises `ApiError`. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(error, response.status);
  return data as T;
}
