// Files to test with.

import type { Resource } from "../../src/api/client";
import type { CoverageReport, CoverageUnit } from "../../src/library/coverage";

/** A file that was read and indexed, with what a test says of it. */
export function file(part: Partial<Resource>): Resource {
  return {
    id: part.filename ?? "id",
    filename: "file.txt",
    identifier: null,
    file_size_bytes: 1,
    mime_type: "text/plain",
    content_hash: "",
    detected_category: "rag",
    type: "txt",
    source: "upload",
    options: { multimodal: false, extract_tables: true, extract_images: true, chunking: null },
    storage_backend: "local",
    project_ids: [],
    version: 1,
    status: "indexed",
    error_message: null,
    error_stage: null,
    error_code: null,
    extraction_metadata: {},
    coverage: null,
    language: null,
    summary: null,
    chunk_count: 0,
    searchable: "full",
    semantic_progress: 1,
    created_at: "2026-01-01T00:00:00Z",
    extracted_at: null,
    indexed_at: null,
    extraction_duration_ms: null,
    indexing_duration_ms: null,
    parent_id: null,
    record_id: null,
    metadata: {},
    thread: null,
    stages: null,
    ...part,
  };
}

/** A unit of a coverage report. */
export function page(number: number, part: Partial<CoverageUnit> = {}): CoverageUnit {
  return {
    unit: "page",
    number,
    name: null,
    characters: 900,
    words: 150,
    tables: 0,
    images: 0,
    rows: 0,
    ocr_share: 0,
    ocr_confidence: null,
    skipped: [],
    warnings: [],
    ...part,
  };
}

/** A coverage report of these units. */
export function report(part: Partial<CoverageReport>): CoverageReport {
  const none = { elements: 0, characters: 0, words: 0, tables: 0, images: 0, rows: 0, empty_units: 0 };
  return { ...none, units: [], warnings: [], skipped: [], ...part };
}
