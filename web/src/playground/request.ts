// The form's state and the request that it makes.
import type { Schemas } from "../api/client";
import type { FilterField } from "../api/codes";

export type SearchIn = Schemas["SearchIn"];
export type ChunkType = Schemas["ChunkType"];
export type Operator = Schemas["Operator"];
type FilterIn = Schemas["FilterIn"];

/** What a search answered. */
export interface Found {
  answer: Schemas["SearchOut"];
  /** Milliseconds as seen from here, the network included. */
  roundTrip: number;
}

export interface FilterDraft {
  id: number;
  field: Field;
  operator: Operator;
  value: string;
}

export interface SearchForm {
  query: string;
  types: ChunkType[];
  project: string;
  resourceIds: string[];
  filters: FilterDraft[];
  topK: number;
  rerank: "" | "on" | "off";
  selfQuery: "" | Schemas["SelfQuery"];
  neighbours: number;
  diversity: number;
}

export const EMPTY_FORM: SearchForm = {
  query: "",
  types: [],
  project: "",
  resourceIds: [],
  filters: [],
  topK: 10,
  rerank: "",
  selfQuery: "",
  neighbours: 0,
  diversity: 0,
};

export type Field = FilterField;

const NUMBERS: ReadonlySet<Field> = new Set(["page", "slide", "row"]);
const DATES: ReadonlySet<Field> = new Set(["date", "uploaded_at"]);

/** Texts are compared as they are or with a list; numbers and dates also by order. */
export function operatorsOf(field: Field): readonly Operator[] {
  return NUMBERS.has(field) || DATES.has(field) ? ["eq", "gte", "lte", "in"] : ["eq", "in"];
}

/** What one writes a value of the field into. */
export function inputOf({ field, operator }: Pick<FilterDraft, "field" | "operator">): "text" | "number" | "date" {
  if (operator === "in") return "text";
  if (DATES.has(field)) return "date";
  return NUMBERS.has(field) ? "number" : "text";
}

/** A draft as the API takes it; null while its value is missing or is no number where one is needed. */
export function conditionOf({ field, operator, value }: FilterDraft): FilterIn | null {
  const parts = (operator === "in" ? value.split(",") : [value]).map((part) => part.trim()).filter(Boolean);
  const values = parts.map((part) => typed(field, part));
  const [first] = values;
  if (first === undefined || values.some((one) => typeof one === "number" && !Number.isInteger(one))) return null;
  return { field, operator, value: operator === "in" ? values : first };
}

function typed(field: Field, value: string): string | number {
  return NUMBERS.has(field) ? Number(value) : value;
}

/** The request of a form: what is left as the server is configured is left out. */
export function requestOf(form: SearchForm): SearchIn {
  return {
    query: form.query.trim(),
    top_k: form.topK,
    debug: true,
    neighbours: form.neighbours,
    filters: form.filters.map(conditionOf).filter((condition) => condition !== null),
    ...(form.types.length && { types: form.types }),
    ...(form.project && { project: form.project }),
    ...(form.resourceIds.length && { resource_ids: form.resourceIds }),
    ...(form.rerank && { rerank: form.rerank === "on" }),
    ...(form.selfQuery && { self_query: form.selfQuery }),
    ...(form.diversity && { diversity: form.diversity }),
  };
}
