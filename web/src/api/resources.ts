// The list of files: light however much the files contain, kept whole in memory, and brought up to date file by file.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, type Resource, unwrap } from "./client";
import { isBusy, queryClient } from "./queries";
import { inWorkspace, presentWorkspace, type WorkspaceId } from "./workspace";

const PAGE = 1_000;
const NEWEST = 20;
const ASKED_AT_ONCE = 100;
const EVERY_MS = 1_500;
const CALM_MS = 4_000;

export const RESOURCES = ["resources"] as const;

type Query = { limit: number; cursor?: string | null; id?: string[]; filters?: string };

async function summaries(workspace: WorkspaceId, query: Query) {
  const params = { header: inWorkspace(workspace), query: { fields: "summary" as const, ...query } };
  return unwrap(api.GET("/resources", { params }));
}

/** Every file of a workspace, newest first, without coverage and metadata. */
export function resourcesQuery(workspace = presentWorkspace()) {
  return queryOptions({
    queryKey: ["resources", workspace],
    queryFn: () => everyPage(workspace),
    staleTime: 60_000,
  });
}

/** The ids of the files that satisfy filters, which are given as JSON. */
export function matchingQuery(filters: string, workspace = presentWorkspace()) {
  return queryOptions({
    queryKey: ["resources", workspace, "matching", filters],
    queryFn: async (): Promise<ReadonlySet<string>> =>
      new Set((await everyPage(workspace, filters)).map(({ id }) => id)),
    staleTime: 60_000,
  });
}

async function everyPage(workspace: WorkspaceId, filters?: string): Promise<Resource[]> {
  const all: Resource[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof summaries>> = await summaries(workspace, {
      limit: PAGE,
      cursor,
      ...(filters !== undefined && { filters }),
    });
    all.push(...page.resources);
    cursor = page.next_cursor;
  } while (cursor);
  return all;
}

/** A passage by the file that it is of. It never changes; when the file goes, it is gone. */
export function chunkQuery({ resource_id, chunk_id }: { resource_id: string; chunk_id: string }) {
  return queryOptions({
    queryKey: ["chunk", chunk_id],
    queryFn: () =>
      unwrap(api.GET("/resources/{resource_id}/chunks/{chunk_id}", { params: { path: { resource_id, chunk_id } } })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** The newest files: enough to know whether there are any, and whether there is news. */
export function newestQuery(workspace = presentWorkspace()) {
  return queryOptions({
    queryKey: ["resources", workspace, "newest"],
    queryFn: async () => (await summaries(workspace, { limit: NEWEST })).resources,
    refetchInterval: (query) => (query.state.data?.some(isBusy) ? EVERY_MS : false),
  });
}

/** Certain files (at most 100 of them); those that are gone are left out. */
export function certainQuery(ids: readonly string[], workspace = presentWorkspace()) {
  const asked = ids.slice(0, ASKED_AT_ONCE);
  const query = { limit: ASKED_AT_ONCE, id: [...asked] };
  return queryOptions({
    queryKey: ["resources", workspace, "certain", ...asked],
    queryFn: async () => (asked.length ? (await summaries(workspace, query)).resources : []),
    staleTime: 60_000,
  });
}

/** The whole list; while files are being worked on, only those are asked about. */
export function useResources(enabled = true) {
  const workspace = presentWorkspace();
  const list = useQuery({ ...resourcesQuery(workspace), enabled });
  useQuery({
    queryKey: ["progress", workspace],
    queryFn: () => followProgress(workspace),
    enabled: enabled && (list.data?.some(isBusy) ?? false),
    refetchInterval: EVERY_MS,
    staleTime: 0,
    gcTime: 0,
  });
  return list;
}

/** Of the files that are being worked on, those whose turn comes first. */
export function nextInTurn(all: readonly Resource[]): string[] {
  return all
    .filter(isBusy)
    .slice(-ASKED_AT_ONCE)
    .map(({ id }) => id);
}

/** The list with fresh answers in their places; of those asked about, what was not answered is gone. */
export function withFresh(all: readonly Resource[], asked: readonly string[], fresh: readonly Resource[]): Resource[] {
  const found = new Map(fresh.map((resource) => [resource.id, resource]));
  const gone = new Set(asked.filter((id) => !found.has(id)));
  return all.filter(({ id }) => !gone.has(id)).map((resource) => found.get(resource.id) ?? resource);
}

async function followProgress(workspace: WorkspaceId): Promise<number> {
  const { queryKey } = resourcesQuery(workspace);
  const asked = nextInTurn(queryClient.getQueryData(queryKey) ?? []);
  if (!asked.length) return 0;
  const { resources } = await summaries(workspace, { limit: ASKED_AT_ONCE, id: asked });
  queryClient.setQueryData(queryKey, (all) => all && withFresh(all, asked, resources));
  // What was inside a file (an archive, a message) appears once the list is read again.
  if (!resources.some(isBusy)) readAgainSoon();
  return resources.length;
}

/** Put a file that the server has just told about into the list of its workspace. */
export function putResource(resource: Resource, workspace: WorkspaceId): void {
  queryClient.setQueryData(
    resourcesQuery(workspace).queryKey,
    (all) => all && (all.some(({ id }) => id === resource.id) ? withFresh(all, [], [resource]) : [resource, ...all]),
  );
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Read the list again, once for all requests that come within a short time. */
export function readAgainSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void queryClient.invalidateQueries({ queryKey: RESOURCES }), CALM_MS);
}
