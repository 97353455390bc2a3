// Filters as the API takes them, and as people read and write them: the bar of the library, the scope of a question, the address.

import type { Schemas } from "../api/client";
import { type FilterField, lookUp } from "../api/codes";
import { t } from "../strings";

export type Operator = Schemas["Operator"];
export type FieldType = Schemas["MetadataKind"];
export type FilterValue = string | number | boolean;

export interface ConditionFilter {
  field: string;
  operator: Operator;
  value: FilterValue | FilterValue[];
}

export type Filter = ConditionFilter | { all: Filter[] } | { any: Filter[] } | { not: Filter };

const MOST_DEEP = 8;
const OPERATORS: Record<FieldType, readonly Operator[]> = {
  text: ["eq", "ne", "contains", "prefix", "exists"],
  number: ["eq", "ne", "gte", "lte", "exists"],
  date: ["eq", "gte", "lte", "exists"],
  boolean: ["eq", "exists"],
};

/** The operators that the bar offers for a type of values. */
export function operatorsOf(type: FieldType): readonly Operator[] {
  return OPERATORS[type];
}

/** What is called `field` in filters, for people: a key of metadata is its own name. */
export function fieldLabel(field: string): string {
  if (field.startsWith("metadata.")) return field.slice("metadata.".length);
  return lookUp<string>(t.fieldName satisfies Record<FilterField, string>, field) ?? field;
}

/** A value as it was written, converted to what a field of this type is compared with; null where it is no such value. */
export function typedValue(type: FieldType, text: string): FilterValue | null {
  const plain = text.trim();
  if (!plain) return null;
  if (type === "boolean") return plain === "true";
  if (type !== "number") return plain;
  return Number.isFinite(Number(plain)) ? Number(plain) : null;
}

/** Everything within a month (`2025-06`) or a year (`2025`), as facets count dates. */
export function within(field: string, period: string): Filter {
  const [year = 0, month] = period.split("-").map(Number);
  const pad = (n: number, length: number): string => String(n).padStart(length, "0");
  const next = month === undefined ? [year + 1, 1] : month === 12 ? [year + 1, 1] : [year, month + 1];
  const day = ([y = 0, m = 1]: number[]): string => `${pad(y, 4)}-${pad(m, 2)}-01`;
  return {
    all: [
      { field, operator: "gte", value: day([year, month ?? 1]) },
      { field, operator: "lt", value: day(next) },
    ],
  };
}

/** The month or year that a filter made by `within` stands for. */
function periodOf(filter: Filter): { field: string; period: string } | null {
  if (!("all" in filter) || filter.all.length !== 2) return null;
  const [from] = filter.all;
  if (!from || !("field" in from) || typeof from.value !== "string") return null;
  for (const period of [from.value.slice(0, 4), from.value.slice(0, 7)])
    if (JSON.stringify(within(from.field, period)) === JSON.stringify(filter)) return { field: from.field, period };
  return null;
}

/** A filter in words, such as `Language is en` or `taken is 2025-06`. */
export function filterLabel(filter: Filter): string {
  const period = periodOf(filter);
  if (period) return `${fieldLabel(period.field)} ${t.operatorName.eq} ${period.period}`;
  if ("all" in filter) return filter.all.map(filterLabel).join(t.filterAnd);
  if ("any" in filter) return filter.any.map(filterLabel).join(t.filterOr);
  if ("not" in filter) return t.filterNot(filterLabel(filter.not));
  const { field, operator, value } = filter;
  if (operator === "exists") return `${fieldLabel(field)} ${value === false ? t.filterUnset : t.operatorName.exists}`;
  const values = (Array.isArray(value) ? value : [value]).map((one) => (typeof one === "boolean" ? yesNo(one) : one));
  return `${fieldLabel(field)} ${t.operatorName[operator]} ${values.join(", ")}`;
}

function yesNo(value: boolean): string {
  return value ? t.yes.toLowerCase() : t.no.toLowerCase();
}

/** The filters without the one that says the same as `gone`. */
export function without(filters: readonly Filter[], gone: Filter): Filter[] {
  const text = JSON.stringify(gone);
  return filters.filter((filter) => JSON.stringify(filter) !== text);
}

/** The filters with one more, once. */
export function withFilter(filters: readonly Filter[], more: Filter): Filter[] {
  return [...without(filters, more), more];
}

/** Filters as the body of a request has them: its description has the three groups in one. */
export function sent(filters: readonly Filter[]): Schemas["ChatIn"]["filters"] {
  return filters as unknown as Schemas["ChatIn"]["filters"];
}

/** Filters as the query of an address has them; null for none. */
export function filtersParameter(filters: readonly Filter[]): string | null {
  return filters.length ? JSON.stringify(filters) : null;
}

/** The filters of an address, which anybody may have written: what is none is left out. */
export function readFilters(text: string | null): Filter[] {
  if (!text) return [];
  try {
    const data: unknown = JSON.parse(text);
    return Array.isArray(data) ? data.filter((one) => isFilter(one, MOST_DEEP)) : [];
  } catch {
    return [];
  }
}

/** What a thread keeps of the filters of a question. */
export function filtersOf(kept: unknown): Filter[] {
  return Array.isArray(kept) ? kept.filter((one) => isFilter(one, MOST_DEEP)) : [];
}

function isFilter(data: unknown, depth: number): data is Filter {
  if (typeof data !== "object" || data === null || depth === 0) return false;
  const row = data as Record<string, unknown>;
  const names = Object.keys(row);
  if (names.length === 1 && (names[0] === "all" || names[0] === "any")) {
    const parts = row[names[0]];
    return Array.isArray(parts) && parts.length > 0 && parts.every((part) => isFilter(part, depth - 1));
  }
  if (names.length === 1 && names[0] === "not") return isFilter(row.not, depth - 1);
  return typeof row.field === "string" && isOperator(row.operator) && isValue(row.value);
}

function isOperator(data: unknown): data is Operator {
  return typeof data === "string" && Object.hasOwn(t.operatorName, data);
}

function isValue(data: unknown): boolean {
  const plain = (one: unknown): boolean => ["string", "number", "boolean"].includes(typeof one);
  return plain(data) || (Array.isArray(data) && data.length > 0 && data.every(plain));
}
