// What screens read of the server, and how long it stays fresh.
import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, api, hasAccounts, type Resource, type Schemas, unwrap, whenProjectRefused } from "./client";
import { isBusyStatus } from "./codes";
import { inWorkspace, presentWorkspace } from "./workspace";

/** Files that one estimate takes. */
const MOST_ESTIMATED = 10_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // An answer that says what is wrong says it the second time too; a broken connection may heal.
      retry: (count, error) => !(error instanceof ApiError) && count < 3,
    },
  },
});

export type UploadEstimate = Schemas["UploadEstimateOut"];

/** What uploading files would take of models that cost. */
export function estimateQuery(files: readonly File[], multimodal: boolean) {
  const planned = files
    .slice(0, MOST_ESTIMATED)
    .map(({ name, type, size }) => ({ filename: name, media_type: type || null, size }));
  return queryOptions({
    queryKey: ["estimate", planned, multimodal],
    queryFn: () => unwrap(api.POST("/ingest/estimate", { body: { files: planned, multimodal } })),
    enabled: planned.length > 0,
    placeholderData: (previous: UploadEstimate | undefined) => previous,
  });
}

/** Whether a file is still being worked on. */
export function isBusy(resource: Pick<Resource, "status">): boolean {
  return isBusyStatus(resource.status);
}

export function threadsQuery(search: string) {
  return infiniteQueryOptions({
    queryKey: ["threads", search],
    // Until the search has been answered, its predecessor's chats stay where they are, open menus included.
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam }) =>
      unwrap(api.GET("/threads", { params: { query: { limit: 100, cursor: pageParam, q: search || null } } })),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function threadQuery(id: string) {
  return queryOptions({
    queryKey: ["thread", id],
    queryFn: () => unwrap(api.GET("/threads/{thread_id}", { params: { path: { thread_id: id } } })),
  });
}

export function resourceQuery(id: string) {
  return queryOptions({
    queryKey: ["resource", id],
    queryFn: () => unwrap(api.GET("/resources/{resource_id}", { params: { path: { resource_id: id } } })),
    refetchInterval: (query) => (query.state.data && isBusy(query.state.data) ? 1_000 : false),
  });
}

/** The projects of a workspace: all of one's own, or the one that is shared. */
export function projectsQuery(workspace = presentWorkspace()) {
  const params = { header: inWorkspace(workspace) };
  return queryOptions({
    queryKey: ["projects", workspace],
    queryFn: async () => (await unwrap(api.GET("/projects", { params }))).projects,
  });
}

/** The projects of others that one may use; nothing where nobody has an account. */
export function sharedProjectsQuery() {
  return queryOptions({
    queryKey: ["shared-projects"],
    queryFn: async () => (await unwrap(api.GET("/shared-projects"))).projects,
    enabled: hasAccounts(),
  });
}

whenProjectRefused(() => void queryClient.invalidateQueries({ queryKey: sharedProjectsQuery().queryKey }));
