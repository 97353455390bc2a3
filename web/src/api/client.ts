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
    readonly details: Schemas["ErrorBody"]["details"] = {},
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

/** What proves to the server that a request comes from this page. */
export function csrfHeaders(): Readonly<Record<string, string>> {
  return proof ? { "X-CSRF-Token": proof } : {};
}

/** Called when the server says that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

const isRead = (method = "GET"): boolean => method === "GET" || method === "HEAD";

const session: Middleware = {
  onRequest({ request }) {
    if (!isRead(request.method))
      for (const [name, value] of Object.entries(csrfHeaders())) request.headers.set(name, value);
    return request;
  },
};

// `fetch` is looked up at each call, so that a test can put a server in its place.
export const api = createClient<paths>({ baseUrl: "", fetch: (call) => fetch(call) });
api.use(session);

/** The error that a failed answer carries; other programs on the way to the server send bodies of other shapes. */
export function errorOf(body: unknown, status: number): ApiError {
  if (status === 401) {
    setSession({ csrf: null, owner: null });
    onSignedOut();
  }
  const { message = `HTTP ${status}`, code = "http_error", details } = (body as PartialError)?.error ?? {};
  return new ApiError(message, code, status, details);
}

type PartialError = { error?: Partial<Schemas["ErrorBody"]> } | null | undefined;

/** The data of an answer; raises `ApiError`. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(error, response.status);
  return data as T;
}

/** What `api` cannot ask for: streams, forms and files. Raises `ApiError`. */
export async function request(address: string, init: RequestInit = {}): Promise<Response> {
  const headers = isRead(init.method) ? init.headers : { ...init.headers, ...csrfHeaders() };
  const response = await fetch(address, { ...init, ...(headers && { headers }) });
  if (!response.ok) throw errorOf(await response.json().catch(() => undefined), response.status);
  return response;
}
