// What the library reads of the server besides the list of files.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import { inWorkspace, type WorkspaceId } from "../api/workspace";

export type Chunk = Schemas["ChunkOut"];
export type ElementType = Schemas["ElementType"];
export type Spread = Schemas["SpreadOut"];

export type ExtractedElement = Schemas["ElementOut"];

const PAGE = 200;

function elementsCall(id: string, type: ElementType | null, cursor: string | null) {
  return unwrap(
    api.GET("/resources/{resource_id}/elements", {
      params: { path: { resource_id: id }, query: { limit: PAGE, cursor, type } },
    }),
  );
}

export function elementsQuery(id: string, version: number, type: ElementType | null) {
  return infiniteQueryOptions({
    queryKey: ["elements", id, version, type],
    queryFn: ({ pageParam }) => elementsCall(id, type, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function chunksQuery(id: string, version: number, chunkCount: number) {
  return infiniteQueryOptions({
    queryKey: ["chunks", id, version, chunkCount],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/resources/{resource_id}/chunks", {
          params: { path: { resource_id: id }, query: { limit: PAGE, cursor: pageParam } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** One passage, as a link names it; null for a link to the whole file. */
export function passageQuery(id: string, passage: string | null) {
  return queryOptions({
    queryKey: ["passage", id, passage],
    queryFn: () =>
      unwrap(
        api.GET("/resources/{resource_id}/chunks/{chunk_id}", {
          params: { path: { resource_id: id, chunk_id: passage ?? "" } },
        }),
      ),
    enabled: passage !== null,
    staleTime: Infinity,
  });
}

export function spreadQuery(id: string, version: number, table: string, column: string) {
  return queryOptions({
    queryKey: ["spread", id, version, table, column],
    queryFn: () =>
      unwrap(
        api.GET("/resources/{resource_id}/tables/{table_id}/spread", {
          params: { path: { resource_id: id, table_id: table }, query: { column } },
        }),
      ),
    staleTime: Infinity,
  });
}

/** The files that were inside of one, which are in the same workspace. */
export function childrenQuery(id: string, workspace: WorkspaceId) {
  const params = { header: inWorkspace(workspace), query: { parent_id: id, limit: 1_000 } };
  return queryOptions({
    queryKey: ["resources", workspace, "inside", id],
    queryFn: async () => (await unwrap(api.GET("/resources", { params }))).resources,
  });
}
