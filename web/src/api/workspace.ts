// Whose files requests are about: one's own, or those of a project that somebody else shares. Each tab is in one workspace.
import { attempt } from "../lib/attempt";
import { createStore } from "../lib/store";
import type { paths } from "./schema";

/** The id of another owner's project; null for one's own files. */
export type WorkspaceId = string | null;

export const PROJECT_HEADER = "X-Citewell-Project";

type Method = "get" | "post" | "put" | "patch" | "delete";
type HeadersOf<Operation> = Operation extends { parameters: { header?: infer Headers } } ? NonNullable<Headers> : never;
type Takes<Operation> = [HeadersOf<Operation>] extends [never]
  ? false
  : typeof PROJECT_HEADER extends keyof HeadersOf<Operation>
    ? true
    : false;
type CallsOf<Path extends keyof paths> = {
  [M in Method]: Takes<paths[Path][M]> extends true ? `${Uppercase<M>} ${Path & string}` : never;
}[Method];

/**
 * The requests whose address does not say which files they are about. All others name a file or a project, which the server looks up
 * for its members too, or are about what is one's own in every workspace. The compiler compares this with the server's description.
 */
const CALLS: ReadonlySet<string> = new Set(
  Object.keys({
    "POST /ingest": true,
    "POST /ingest/estimate": true,
    "GET /resources": true,
    "GET /resources/facets": true,
    "GET /projects": true,
    "POST /search": true,
    "POST /search/pictures": true,
    "POST /search/pictures/example": true,
    "POST /citations/check": true,
    "POST /chat": true,
  } satisfies Record<{ [Path in keyof paths]: CallsOf<Path> }[keyof paths], true>),
);

export function takesProject(method: string, path: string): boolean {
  return CALLS.has(`${method.toUpperCase()} ${path}`);
}

/** The header of a request that is about a workspace; none where the request takes none, or is about one's own files. */
export function projectHeaders(method: string, path: string, workspace: WorkspaceId): Readonly<Record<string, string>> {
  return workspace !== null && takesProject(method, path) ? { [PROJECT_HEADER]: workspace } : {};
}

/** Names the workspace of a request of the typed client, which is then the same however long the request takes to begin. */
export function inWorkspace(workspace: WorkspaceId): { [PROJECT_HEADER]: WorkspaceId } {
  return { [PROJECT_HEADER]: workspace };
}

// ---- the workspace of this tab ----

const KEY = "citewell.project";
const PARAMETER = "project";

export const chosenWorkspace = createStore<WorkspaceId>(null);
let owner: string | null = null;

/** Whose files a request is about that does not say so itself. */
export function presentWorkspace(): WorkspaceId {
  return chosenWorkspace.get();
}

/** Take the project that a link names out of the address bar, and keep it for whoever signs in. */
export function takeProjectFromAddress(): void {
  const address = new URL(window.location.href);
  const project = address.searchParams.get(PARAMETER);
  if (project === null) return;
  address.searchParams.delete(PARAMETER);
  window.history.replaceState(null, "", address.pathname + address.search + address.hash);
  if (project) store({ owner: null, project });
}

/** Go on in the workspace where this owner was in this tab, or which a link names. */
export function openWorkspace(whose: string): void {
  if (owner === whose) return;
  owner = whose;
  const kept = stored();
  const project = kept && (kept.owner === null || kept.owner === whose) ? kept.project : null;
  chooseWorkspace(project);
}

/** What is shown and asked from now on is about this workspace. */
export function chooseWorkspace(workspace: WorkspaceId): void {
  if (workspace === null || owner === null) attempt(() => window.sessionStorage.removeItem(KEY));
  else store({ owner, project: workspace });
  chosenWorkspace.set(workspace);
}

/** Whoever signs in next begins in their own files. */
export function forgetWorkspace(): void {
  chooseWorkspace(null);
  owner = null;
}

interface Kept {
  /** Who chose it; null for a link that nobody has followed yet. */
  owner: string | null;
  project: string;
}

function store(kept: Kept): void {
  attempt(() => window.sessionStorage.setItem(KEY, JSON.stringify(kept)));
}

function stored(): Kept | null {
  return attempt(() => {
    const kept = JSON.parse(window.sessionStorage.getItem(KEY) ?? "null") as Partial<Kept> | null;
    if (typeof kept?.project !== "string") return null;
    return { owner: typeof kept.owner === "string" ? kept.owner : null, project: kept.project };
  });
}
