// What files can be filtered by, and the keys that their metadata has.
import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import { inWorkspace, presentWorkspace } from "../api/workspace";
import { type Filter, filtersParameter } from "../filters/filters";
import type { ValueKind } from "./values";

export type Facet = Schemas["FacetOut"];

const METADATA = "metadata.";
const STALE_MS = 30_000;

/** The fields of the files that satisfy filters, with their values and counts. */
export function facetsQuery(filters: readonly Filter[] = [], workspace = presentWorkspace()) {
  const query = { filters: filtersParameter(filters), values: 50 };
  return queryOptions({
    queryKey: ["facets", workspace, ...filters],
    queryFn: () => unwrap(api.GET("/resources/facets", { params: { header: inWorkspace(workspace), query } })),
    staleTime: STALE_MS,
  });
}

/** The key that a field `metadata.<key>` names; null for any other. */
export function keyOf(field: string): string | null {
  return field.startsWith(METADATA) ? field.slice(METADATA.length) : null;
}

export interface KnownKey {
  key: string;
  kind: ValueKind;
  values: string[];
}

/** The keys that files have, most frequent first, each with the type that it has most often, and its values. */
export function knownKeys(facets: readonly Facet[]): KnownKey[] {
  const found = new Map<string, KnownKey>();
  for (const { field, type, values } of facets) {
    const key = keyOf(field);
    if (key === null || found.has(key)) continue;
    found.set(key, { key, kind: type, values: type === "text" ? values.map(({ value }) => String(value)) : [] });
  }
  return [...found.values()];
}
