// What can be done with a file, and what must be read again afterwards.
import { api, type Resource, request, unwrap } from "../api/client";
import { queryClient, resourceQuery } from "../api/queries";
import type { WorkspaceId } from "../api/workspace";
import { fileAddress } from "../lib/save";
import type { MetadataValue } from "../metadata/values";
import { noteSettled, noteUnsent } from "../upload/unsent";

/** Read a file and the list again. */
export async function refreshResource(id: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ["resources"] }),
    queryClient.invalidateQueries({ queryKey: resourceQuery(id).queryKey }),
  ]);
}

/** Run indexing again; a file that failed is read again from the start. Raises `ApiError`. */
export async function reindex(id: string): Promise<void> {
  await unwrap(api.POST("/resources/{resource_id}/reindex", { params: { path: { resource_id: id } } }));
  await refreshResource(id);
}

/** Change what is said of a file; a key of null is removed. Raises `ApiError`. */
export async function describeFile(
  id: string,
  metadata: Record<string, MetadataValue | null>,
  identifier: string,
): Promise<void> {
  const changed = await unwrap(
    api.PATCH("/resources/{resource_id}", { params: { path: { resource_id: id } }, body: { metadata, identifier } }),
  );
  queryClient.setQueryData(
    resourceQuery(id).queryKey,
    (known) => known && { ...changed, stages: known.stages ?? null },
  );
  await Promise.all([refreshResource(id), queryClient.invalidateQueries({ queryKey: ["facets"] })]);
}

/** Upload a file as the next version. Raises `ApiError`. */
export async function replaceFile(id: string, file: File): Promise<void> {
  const form = new FormData();
  form.append("file", file);
  noteUnsent([{ id, name: file.name, size: file.size, isUnderWay: true }]);
  try {
    await request(fileAddress(id), { method: "PUT", body: form });
  } finally {
    noteSettled(id);
  }
  await refreshResource(id);
}

/** Try a file that failed once more with a password: the same bytes, sent again, to where it is. Raises `ApiError`. */
export async function retryWithPassword(resource: Resource, password: string, workspace: WorkspaceId): Promise<void> {
  const bytes = await request(fileAddress(resource.id));
  const form = new FormData();
  form.append("password", password);
  form.append("file", await bytes.blob(), resource.filename);
  await request("/ingest", { method: "POST", body: form }, workspace);
  await refreshResource(resource.id);
}
