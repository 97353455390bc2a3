// The coverage report as a map: what was read of each page, and how.
import type { Resource, Schemas } from "../api/client";

export type CoverageKind = "read" | "ocr" | "empty" | "skipped";
export const COVERAGE_KINDS: readonly CoverageKind[] = ["read", "ocr", "empty", "skipped"];

export type CoverageUnit = Schemas["UnitCoverageOut"];
export type CoverageReport = Schemas["CoverageOut"];

/** The report of a resource, or null where nothing was read yet. Lists tell the unit and its number alone. */
export function reportOf({ coverage }: Pick<Resource, "coverage">): CoverageReport | null {
  return coverage && "units" in coverage ? coverage : null;
}

/** What the parts of a file are called: a book's front matter is a unit next to its chapters. */
export function mainUnit(units: readonly { unit: string }[]): string {
  return units.find(({ unit }) => unit !== "front")?.unit ?? "front";
}

const MOSTLY = 0.5;

/** How a page counts. What was left out weighs most, as it is what a reader must know; then what only OCR could read. */
export function kindOf(unit: CoverageUnit): CoverageKind {
  if (unit.skipped.length) return "skipped";
  const isEmpty = unit.characters === 0 && unit.rows === 0 && unit.tables === 0;
  if (isEmpty) return "empty";
  return unit.ocr_share >= MOSTLY ? "ocr" : "read";
}

export interface CoverageShare {
  kind: CoverageKind;
  count: number;
  share: number;
}

/** How many pages are of each kind, in a fixed order; kinds without a page are left out. */
export function sharesOf(units: readonly CoverageUnit[]): CoverageShare[] {
  return COVERAGE_KINDS.map((kind) => {
    const count = units.filter((unit) => kindOf(unit) === kind).length;
    return { kind, count, share: units.length ? count / units.length : 0 };
  }).filter(({ count }) => count > 0);
}

export interface Remark {
  text: string;
  numbers: number[];
}

/** Remarks with the pages they concern, each remark once; those about the whole file have no pages. */
export function remarksOf(report: CoverageReport): Remark[] {
  const byText = new Map<string, number[]>();
  for (const text of [...report.skipped, ...report.warnings]) byText.set(text, byText.get(text) ?? []);
  for (const unit of report.units) {
    for (const text of [...unit.skipped, ...unit.warnings])
      byText.set(text, [...(byText.get(text) ?? []), unit.number]);
  }
  return [...byText].map(([text, numbers]) => ({ text, numbers }));
}

/** `1, 2, 3, 7` → `1–3, 7`. */
export function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] ?? 0;
    let last = first;
    while (sorted[at + 1] === last + 1) {
      last += 1;
      at += 1;
    }
    parts.push(first === last ? `${first}` : `${first}–${last}`);
    at += 1;
  }
  return parts.join(", ");
}
