// The codes that the server's answers use where its OpenAPI document says no more than "string". tests/web/test_codes.py holds these lists
// to the server's own; the tables of strings.ts are checked against them by the compiler.

export const STATUSES = [
  "uploaded",
  "extracting",
  "extracted",
  "stored",
  "failed",
  "indexing",
  "embedding",
  "indexed",
  "analyzed",
  "described",
  "partial",
] as const;
export type Status = (typeof STATUSES)[number];

export const FINAL_STATUSES = [
  "stored",
  "failed",
  "indexed",
  "analyzed",
  "described",
  "partial",
] as const satisfies readonly Status[];
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type BusyStatus = Exclude<Status, FinalStatus>;

/** Why a file could not be read. */
export const EXTRACTION_CODES = [
  "extraction_failed",
  "corrupt_file",
  "password_required",
  "wrong_password",
  "damaged_file",
  "limit_exceeded",
  "parser_timeout",
  "parser_crashed",
  "parser_out_of_memory",
] as const;
export type ExtractionCode = (typeof EXTRACTION_CODES)[number];

/** Whether a password may help. */
export function needsPassword(code: string | null | undefined): boolean {
  return (
    code === ("password_required" satisfies ExtractionCode) || code === ("wrong_password" satisfies ExtractionCode)
  );
}

/** Why a worker ended a file's processing otherwise. */
export const WORKER_CODES = ["gave_up", "unexpected"] as const;
export type FailureCode = ExtractionCode | (typeof WORKER_CODES)[number];

/** What a coverage report counts. */
export const UNITS = ["page", "sheet", "slide", "chapter", "frame", "front", "message", "file"] as const;
export type Unit = (typeof UNITS)[number];

export const ELEMENT_TYPES = [
  "title",
  "paragraph",
  "list_item",
  "table",
  "image",
  "row",
  "code",
  "caption",
  "footnote",
  "comment",
  "form_field",
  "note",
  "header",
  "footer",
] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

export const VERDICTS = ["supported", "weak", "unsupported"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The scores of a hit. */
export const LEGS = ["dense", "lexical", "fused", "rerank"] as const;
export type Leg = (typeof LEGS)[number];

/** The timed steps of a search. */
export const SEARCH_STEPS = [
  "scope",
  "self_query",
  "embed",
  "dense",
  "analyse",
  "lexical",
  "foreign",
  "feedback",
  "fuse",
  "codes",
  "expand",
  "threshold",
  "load",
  "diversify",
  "rerank",
] as const;
export type SearchStep = (typeof SEARCH_STEPS)[number];

export const FILTER_FIELDS = [
  "filename",
  "extension",
  "type",
  "category",
  "language",
  "sheet",
  "page",
  "slide",
  "row",
  "date",
  "uploaded_at",
  "tag",
  "identifier",
  "thread",
  "project",
] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export const USAGE_KINDS = ["chat", "embedding", "rerank", "vision"] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

export const INDEX_STATES = ["offered", "building", "ready", "filling", "active", "retired"] as const;
export type IndexState = (typeof INDEX_STATES)[number];

export const VECTOR_STORES = ["edge", "qdrant", "pgvector", "redis", "pinecone"] as const;
export type VectorStore = (typeof VECTOR_STORES)[number];

/** What `GET /doctor` looks at. */
export const HEALTH_PARTS = [
  "citewell",
  "python",
  "data folder",
  "lost+found",
  "settings",
  "accounts",
  "embeddings",
  "rerank",
  "chat",
  "local model",
  "vision",
  "blobs",
  "disk",
  "mail",
  "parsers",
  "rapidocr",
  "database",
  "index",
  "vector store",
  "embedder",
] as const;
export type HealthPart = (typeof HEALTH_PARTS)[number];

const FINAL: ReadonlySet<string> = new Set(FINAL_STATUSES);
const ALL: ReadonlySet<string> = new Set(STATUSES);

/** Whether nothing more will happen to a file by itself. */
export function isFinal(status: string): boolean {
  return FINAL.has(status);
}

/** Whether a file is still being worked on. */
export function isBusyStatus(status: string): boolean {
  return ALL.has(status) && !FINAL.has(status);
}

/** The value if it is one of these, as a select or the server may give it. */
export function oneOf<T extends string>(values: readonly T[], value: string | null | undefined): T | undefined {
  return values.find((one) => one === value);
}

/** What a table says of a code; undefined for one that a newer server may have added. */
export function lookUp<T>(table: Readonly<Record<string, T>>, code: string | null | undefined): T | undefined {
  return code !== null && code !== undefined && Object.hasOwn(table, code) ? table[code] : undefined;
}

/** What a table says of a code, or the code itself made readable: `form_field` → `Form field`. */
export function wordFor(table: Readonly<Record<string, string>>, code: string): string {
  return lookUp(table, code) ?? (code.charAt(0).toUpperCase() + code.slice(1)).replaceAll("_", " ");
}

/** Why somebody was not let in who came back from the identity provider. */
export const SIGN_IN_PROBLEMS = [
  "expired",
  "declined",
  "refused",
  "unavailable",
  "unverified",
  "domain",
  "not_invited",
  "no_administrator",
  "taken",
  "other_person",
  "suspended",
  "too_many",
] as const;
export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];
