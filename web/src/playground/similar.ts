// Pictures like an example: one that is sent, or one that is stored.
import { api, request, type Schemas, unwrap } from "../api/client";
import { createStore } from "../lib/store";

export type FoundPictures = Schemas["PictureSearchOut"];
export type Example = File | { resourceId: string; blob: string | null };

/** Takes a picture that is dropped on the window, while the search is shown. */
export const pictureTaker = createStore<((picture: File) => void) | null>(null);

export async function picturesLike(example: Example): Promise<FoundPictures> {
  if (!(example instanceof File)) {
    const body = { resource_id: example.resourceId, blob: example.blob, filters: [] };
    return unwrap(api.POST("/search/pictures", { body }));
  }
  const form = new FormData();
  form.append("file", example);
  const answer = await request("/search/pictures/example", { method: "POST", body: form });
  return (await answer.json()) as FoundPictures;
}

/** Where the pictures like a stored one are shown. */
export function likeAddress(image: { resource_id: string; blob: string | null }): string {
  const asked = new URLSearchParams({ like: image.resource_id, ...(image.blob !== null && { blob: image.blob }) });
  return `/playground?${asked}`;
}
