// What extraction says about the tables of a data file.
import type { Resource, Schemas } from "../api/client";
import type { Locator } from "./state";

export type Column = Schemas["ColumnOut"];
export type Table = Schemas["TableOut"];

/** Tables with an exact copy, which can be shown row by row. */
export function tablesOf(resource: Pick<Resource, "extraction_metadata">): Table[] {
  return (resource.extraction_metadata.tables ?? []).filter((table) => table.copy);
}

/** The table in which a place lies: the same sheet and around its row, else the same sheet, else the first. */
export function tableAt(tables: readonly Table[], place: Locator | undefined): Table | undefined {
  const { sheet, row } = place ?? {};
  const onSheet = sheet === undefined ? tables : tables.filter((table) => table.sheet === sheet);
  const around = onSheet.find(
    (table) => row !== undefined && (table.first_row ?? 1) <= row && row <= (table.last_row ?? Number.MAX_SAFE_INTEGER),
  );
  return around ?? onSheet[0] ?? tables[0];
}

const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

/** Whether a column's numbers are likely years, which are written without a separator. */
export function isYears({ dtype, min, max }: Pick<Column, "dtype" | "min" | "max">): boolean {
  return dtype === "integer" && Number(min ?? 0) >= FIRST_YEAR && Number(max ?? 0) <= LAST_YEAR;
}

/** Whether a row is one of those at a place. */
export function isRowOf(place: Locator | undefined, row: number): boolean {
  const { row: first, row_end: last, rows } = place ?? {};
  if (first === undefined) return false;
  return rows?.length ? rows.includes(row) : row >= first && row <= (last ?? first);
}

/** Where the column of a cited cell is in its table; undefined where whole rows are cited. */
export function columnAt(table: Table, place: Locator | undefined): number | undefined {
  const index = place?.column === undefined ? -1 : table.columns.findIndex(({ name }) => name === place.column);
  return index < 0 ? undefined : index;
}
