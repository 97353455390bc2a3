// What people say of a file: rows of a key, a type and a text, and the JSON that they stand for.
import type { Resource, Schemas } from "../api/client";

export type Metadata = NonNullable<Resource["metadata"]>;
export type MetadataValue = Metadata[string];
export const VALUE_KINDS = ["text", "number", "boolean", "date", "list"] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

export interface MetadataRow {
  id: number;
  key: string;
  kind: ValueKind;
  value: string;
}

/** What is wrong with a row. */
export type RowProblem = "key" | "twice" | "value" | "number" | "date";

const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
let made = 0;

export function emptyRow(): MetadataRow {
  made += 1;
  return { id: made, key: "", kind: "text", value: "" };
}

/** The rows of metadata as it is kept. */
export function rowsOf(metadata: Metadata): MetadataRow[] {
  return Object.entries(metadata).map(([key, value]) => ({
    ...emptyRow(),
    key,
    kind: kindOf(value),
    value: Array.isArray(value) ? value.join("; ") : String(value),
  }));
}

function kindOf(value: MetadataValue): ValueKind {
  if (Array.isArray(value)) return "list";
  if (typeof value === "number" || typeof value === "boolean") return typeof value === "number" ? "number" : "boolean";
  return isDate(value) ? "date" : "text";
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10)));
}

/** Whether nothing was entered in a row; it is left out. */
export function isBlank({ key, value }: MetadataRow): boolean {
  return !key.trim() && !value.trim();
}

/** What is wrong with each row that cannot be sent, by its id. */
export function problemsOf(rows: readonly MetadataRow[]): ReadonlyMap<number, RowProblem> {
  const found = new Map<number, RowProblem>();
  const seen = new Set<string>();
  for (const row of rows) {
    if (isBlank(row)) continue;
    const key = row.key.trim();
    if (!key) found.set(row.id, "key");
    else if (seen.has(key)) found.set(row.id, "twice");
    else if (!row.value.trim() || (row.kind === "list" && !listOf(row.value).length)) found.set(row.id, "value");
    else if (row.kind === "number" && !Number.isFinite(Number(row.value))) found.set(row.id, "number");
    else if (row.kind === "date" && !isDate(row.value.trim())) found.set(row.id, "date");
    seen.add(key);
  }
  return found;
}

function listOf(text: string): string[] {
  const parts = text.split(/[;\n]/).map((part) => part.trim());
  return parts.filter(Boolean);
}

function typedValue({ kind, value }: MetadataRow): MetadataValue {
  switch (kind) {
    case "number":
      return Number(value);
    case "boolean":
      return value === "true";
    case "list":
      return listOf(value);
    default:
      return value.trim();
  }
}

/** The metadata that rows without problems stand for. */
export function metadataOf(rows: readonly MetadataRow[]): Metadata {
  return Object.fromEntries(rows.filter((row) => !isBlank(row)).map((row) => [row.key.trim(), typedValue(row)]));
}

/** What to send so that `before` becomes what the rows say: a key that is gone is removed by null. */
export function changesOf(before: Metadata, rows: readonly MetadataRow[]): Record<string, MetadataValue | null> {
  const after = metadataOf(rows);
  const removed = Object.keys(before).filter((key) => !(key in after));
  const changed = Object.entries(after).filter(([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value));
  return Object.fromEntries([...removed.map((key): [string, null] => [key, null]), ...changed]);
}

/** The key that a refusal of the server is about, if it names one. */
export function refusedKey(details: Schemas["ErrorBody"]["details"]): string | null {
  const key = details?.key;
  return typeof key === "string" ? key : null;
}
