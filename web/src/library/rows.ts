// Which files the library shows, and in what order: pure, so that ten thousand rows are filtered while one types.
import type { Resource } from "../api/client";
import { oneOf, UNITS, type Unit } from "../api/codes";
import { isBusy } from "../api/queries";

export type Group = "ready" | "busy" | "attention" | "stored";
export const SORT_KEYS = ["added", "name", "status", "type", "size", "pages", "chunks"] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export interface Sort {
  key: SortKey;
  descending: boolean;
}

export interface Filters {
  text: string;
  group: Group | "";
  type: string;
  project: string;
}

export const NO_FILTERS: Filters = { text: "", group: "", type: "", project: "" };
export const NEWEST_FIRST: Sort = { key: "added", descending: true };

/** The state of a file, reduced to the four that people look for. */
export function groupOf(resource: Pick<Resource, "status">): Group {
  if (isBusy(resource)) return "busy";
  if (resource.status === "failed" || resource.status === "partial") return "attention";
  return resource.status === "stored" ? "stored" : "ready";
}

export interface Length {
  unit: Unit;
  count: number;
}

/** A file's pages, slides, sheets, chapters or messages, as the list (`unit_count`) or the file itself (`units`) tells them; null where it has none (a text file) or is not read yet. */
export function lengthOf(resource: Pick<Resource, "coverage">): Length | null {
  const { coverage } = resource;
  if (!coverage) return null;
  const isReport = "units" in coverage;
  const unit = isReport ? coverage.units[0]?.unit : coverage.unit;
  const count = isReport ? coverage.units.length : coverage.unit_count;
  if (!unit || unit === "file" || !count) return null;
  // A book begins with its front matter, which is no chapter.
  if (unit === "front") return count > 1 ? { unit: "chapter", count: count - 1 } : null;
  return { unit: oneOf(UNITS, unit) ?? "front", count };
}

/** Files that meet every filter; words may be anywhere in the name or the identifier. */
export function filterRows(resources: readonly Resource[], filters: Filters): Resource[] {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  return resources.filter((resource) => {
    if (filters.group && groupOf(resource) !== filters.group) return false;
    if (filters.type && resource.type !== filters.type) return false;
    if (filters.project && !resource.project_ids.includes(filters.project)) return false;
    if (!words.length) return true;
    const name = `${resource.filename} ${resource.identifier ?? ""}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

const GROUP_ORDER: readonly Group[] = ["attention", "busy", "ready", "stored"];
const names = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

type Compare = (a: Resource, b: Resource) => number;

const COMPARE: Record<SortKey, Compare> = {
  name: (a, b) => names.compare(a.filename, b.filename),
  status: (a, b) => GROUP_ORDER.indexOf(groupOf(a)) - GROUP_ORDER.indexOf(groupOf(b)),
  type: (a, b) => names.compare(a.type, b.type),
  size: (a, b) => a.file_size_bytes - b.file_size_bytes,
  pages: (a, b) => (lengthOf(a)?.count ?? 0) - (lengthOf(b)?.count ?? 0),
  chunks: (a, b) => a.chunk_count - b.chunk_count,
  added: (a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0),
};

/** A sorted copy; what is equal keeps its order. */
export function sortRows(resources: readonly Resource[], { key, descending }: Sort): Resource[] {
  const compare = COMPARE[key];
  return [...resources].sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
}

/** What a click on a column's head leads to: names rise first, figures and dates fall first; a second click turns round. */
export function nextSort(present: Sort, key: SortKey): Sort {
  if (present.key === key) return { key, descending: !present.descending };
  return firstSort(key);
}

/** Names upwards; the largest, longest and newest first. */
export function firstSort(key: SortKey): Sort {
  return { key, descending: key === "size" || key === "pages" || key === "chunks" || key === "added" };
}

/** How many files there are of each group. */
export function countGroups(resources: readonly Resource[]): Record<Group, number> {
  const counts: Record<Group, number> = { ready: 0, busy: 0, attention: 0, stored: 0 };
  for (const resource of resources) counts[groupOf(resource)] += 1;
  return counts;
}

/** The file types there are, most frequent first. */
export function typesOf(resources: readonly Resource[]): string[] {
  const counts = new Map<string, number>();
  for (const { type } of resources) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || names.compare(a, b)).map(([type]) => type);
}
