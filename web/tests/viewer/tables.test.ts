import { describe, expect, it } from "vitest";
import { columnAt, isRowOf, isYears, type Table } from "../../src/viewer/tables";

const table: Table = {
  id: "t0",
  name: "Loans",
  row_count: 9,
  columns: [
    { name: "Branch", dtype: "text" },
    { name: "Amount", dtype: "number" },
  ],
};

describe("a place in a table", () => {
  it("is one row, a range, or some rows of it", () => {
    const rows = [1, 2, 3, 4, 5];
    expect(rows.filter((row) => isRowOf({ row: 2 }, row))).toEqual([2]);
    expect(rows.filter((row) => isRowOf({ row: 2, row_end: 4 }, row))).toEqual([2, 3, 4]);
    expect(rows.filter((row) => isRowOf({ row: 2, row_end: 5, rows: [2, 5] }, row))).toEqual([2, 5]);
    expect(rows.filter((row) => isRowOf({ sheet: "Loans" }, row))).toEqual([]);
  });

  it("is in a column where it names one that the table has", () => {
    expect(columnAt(table, { row: 2, column: "Amount" })).toBe(1);
    expect(columnAt(table, { row: 2, column: "amount" })).toBeUndefined();
    expect(columnAt(table, { row: 2 })).toBeUndefined();
    expect(columnAt(table, undefined)).toBeUndefined();
  });
});

describe("a column of whole numbers", () => {
  it("is one of years where all of them could be, and then has no separators", () => {
    expect(isYears({ dtype: "integer", min: 1998, max: 2026 })).toBe(true);
    expect(isYears({ dtype: "integer", min: 1998, max: 52_300 })).toBe(false);
    expect(isYears({ dtype: "integer", min: 12, max: 2026 })).toBe(false);
    expect(isYears({ dtype: "number", min: 1998.5, max: 2026 })).toBe(false);
    expect(isYears({ dtype: "integer" })).toBe(false);
  });
});
