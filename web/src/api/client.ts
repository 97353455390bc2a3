// The typed client: every path, parameter and answer comes from the server's own OpenAPI document.
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";
import { PROJECT_HEADER, presentWorkspace, projectHeaders, type WorkspaceId } from "./workspace";

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
let accounts = false;
let onSignedOut: () => void = () => undefined;
let onRefused: () => void = () => undefined;

/**
 * What requests that change something send along, and whose they are: the two change together, or a file could go to another's library.
 * accounts: whether others may share projects here.
 */
export function setSession(session: { csrf: string | null; owner: string | null; accounts?: boolean }): void {
  proof = session.csrf;
  owner = session.owner;
  accounts = session.accounts ?? false;
}

/** The owner whose requests these are; null while nobody is signed in. */
export function signedInAs(): string | null {
  return owner;
}

/** Whether people have accounts here, and somebody who may use the projects of others is signed in. */
export function hasAccounts(): boolean {
  return accounts;
}

/** What proves to the server that a request comes from this page. */
export function csrfHeaders(): Readonly<Record<string, string>> {
  return proof ? { "X-CSRF-Token": proof } : {};
}

/** Called when the server says that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/** Called when the server does not let a request into a project of somebody else: the role in it may have changed, or ended. */
export function whenProjectRefused(listener: () => void): void {
  onRefused = listener;
}

/** To be told of the status of each answer to a request with a project's header. */
export function noteProjectStatus(status: number): void {
  if (status === 403 || status === 404) onRefused();
}

const isRead = (method = "GET"): boolean => method === "GET" || method === "HEAD";

const session: Middleware = {
  onRequest({ request }) {
    if (!isRead(request.method))
      for (const [name, value] of Object.entries(csrfHeaders())) request.headers.set(name, value);
    return request;
  },
};

/** A request that does not say which workspace it is about is about the one that is shown. */
const project: Middleware = {
  onRequest({ request, schemaPath, params }) {
    if (params.header?.[PROJECT_HEADER] !== undefined) return request;
    const present = projectHeaders(request.method, schemaPath, presentWorkspace());
    for (const [name, value] of Object.entries(present)) request.headers.set(name, value);
    return request;
  },
  onResponse({ request, response }) {
    if (request.headers.has(PROJECT_HEADER)) noteProjectStatus(response.status);
    return response;
  },
};

// `fetch` is looked up at each call, so that a test can put a server in its place.
export const api = createClient<paths>({ baseUrl: "", fetch: (call) => fetch(call) });
api.use(session, project);

/** The error that a failed answer carries; other programs on the way to the server send bodies of other shapes. */
export function errorOf(body: unknown, status: number): ApiError {
  if (status === 401) {
    setSession({ csrf: null, owner: null });
    onSignedOut();
  }
  const { message = `HTTP ${status}`, code = "http_error", details } = (body as PartialError)?.error ?? {};
  return new ApiError(inWords(details) ?? message, code, status, details);
}

/** What is wrong with the fields of a request, without their paths in it; undefined where an error is about something else. */
function inWords(details: unknown): string | undefined {
  const fields = (details as { fields?: { field: string; problem: string }[] } | undefined)?.fields;
  if (!Array.isArray(fields) || !fields.length) return undefined;
  const said = fields.map(({ field, problem }) =>
    problem.endsWith(".") ? problem : `${field.split(".").at(-1)}: ${problem}.`,
  );
  return said.join(" ");
}

type PartialError = { error?: Partial<Schemas["ErrorBody"]> } | null | undefined;

/** The data of an answer; raises `ApiError`. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(error, response.status);
  return data as T;
}

/** What `api` cannot ask for: streams, forms and files. Raises `ApiError`. */
export async function request(
  address: string,
  init: RequestInit = {},
  workspace: WorkspaceId = presentWorkspace(),
): Promise<Response> {
  const { method = "GET" } = init;
  const about = projectHeaders(method, address.split("?", 1)[0] ?? "", workspace);
  const headers = { ...init.headers, ...(isRead(method) ? {} : csrfHeaders()), ...about };
  const response = await fetch(address, { ...init, ...(Object.keys(headers).length > 0 && { headers }) });
  if (PROJECT_HEADER in about) noteProjectStatus(response.status);
  if (!response.ok) throw errorOf(await response.json().catch(() => undefined), response.status);
  return response;
}
