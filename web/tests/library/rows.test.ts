import { describe, expect, it } from "vitest";
import {
  countGroups,
  filterRows,
  groupOf,
  lengthOf,
  NEWEST_FIRST,
  NO_FILTERS,
  nextSort,
  sortRows,
  typesOf,
} from "../../src/library/rows";
import { file, page, report } from "./files";

const names = (rows: { filename: string }[]): string[] => rows.map(({ filename }) => filename);

describe("filterRows", () => {
  const rows = [
    file({ filename: "Loan Policy 2026.pdf", type: "pdf", project_ids: ["p"] }),
    file({ filename: "orders.csv", type: "csv", identifier: "LOAN-7", status: "analyzed" }),
    file({ filename: "broken.pdf", type: "pdf", status: "failed" }),
    file({ filename: "thing.bin", type: "bin", status: "stored" }),
    file({ filename: "now.pdf", type: "pdf", status: "indexing" }),
  ];

  it("finds words anywhere in name or identifier, whatever their case and order", () => {
    expect(names(filterRows(rows, { ...NO_FILTERS, text: "2026 LOAN" }))).toEqual(["Loan Policy 2026.pdf"]);
    expect(names(filterRows(rows, { ...NO_FILTERS, text: "loan" }))).toEqual(["Loan Policy 2026.pdf", "orders.csv"]);
  });

  it("wants every filter to hold", () => {
    expect(names(filterRows(rows, { ...NO_FILTERS, type: "pdf", group: "attention" }))).toEqual(["broken.pdf"]);
    expect(names(filterRows(rows, { ...NO_FILTERS, project: "p" }))).toEqual(["Loan Policy 2026.pdf"]);
    expect(filterRows(rows, { ...NO_FILTERS, project: "p", type: "csv" })).toEqual([]);
  });

  it("counts each file in exactly one group", () => {
    expect(countGroups(rows)).toEqual({ ready: 2, busy: 1, attention: 1, stored: 1 });
    expect(groupOf({ status: "partial" })).toBe("attention");
  });
});

describe("sortRows", () => {
  it("reads numbers in names as numbers", () => {
    const rows = [file({ filename: "b10.txt" }), file({ filename: "b9.txt" }), file({ filename: "A.txt" })];
    expect(names(sortRows(rows, { key: "name", descending: false }))).toEqual(["A.txt", "b9.txt", "b10.txt"]);
  });

  it("keeps the order of what is equal, both ways, and leaves its input alone", () => {
    const rows = [
      file({ filename: "1", chunk_count: 2 }),
      file({ filename: "2", chunk_count: 2 }),
      file({ filename: "3", chunk_count: 5 }),
    ];
    expect(names(sortRows(rows, { key: "chunks", descending: true }))).toEqual(["3", "1", "2"]);
    expect(names(sortRows(rows, { key: "chunks", descending: false }))).toEqual(["1", "2", "3"]);
    expect(names(rows)).toEqual(["1", "2", "3"]);
  });

  it("puts what needs attention first", () => {
    const rows = [
      file({ filename: "stored", status: "stored" }),
      file({ filename: "ready" }),
      file({ filename: "failed", status: "failed" }),
    ];
    expect(names(sortRows(rows, { key: "status", descending: false }))).toEqual(["failed", "ready", "stored"]);
  });

  it("stays quick with ten thousand rows", () => {
    const rows = Array.from({ length: 10_000 }, (_, index) =>
      file({ filename: `file ${(index * 7_919) % 10_000}.txt` }),
    );
    const before = process.cpuUsage();
    const sorted = sortRows(filterRows(rows, { ...NO_FILTERS, text: "file" }), { key: "name", descending: false });
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    expect(sorted[2]?.filename).toBe("file 2.txt");
  });
});

it("turns a column's order round on the second click", () => {
  expect(nextSort(NEWEST_FIRST, "name")).toEqual({ key: "name", descending: false });
  expect(nextSort({ key: "name", descending: false }, "name")).toEqual({ key: "name", descending: true });
  expect(nextSort(NEWEST_FIRST, "size")).toEqual({ key: "size", descending: true });
});

it("counts what a file consists of: pages, sheets, a book's chapters without its front matter, nothing in a text", () => {
  expect(lengthOf({ coverage: report({ units: [page(1, { unit: "page" }), page(1, { unit: "page" })] }) })).toEqual({
    unit: "page",
    count: 2,
  });
  expect(lengthOf({ coverage: report({ units: [page(1, { unit: "file" })] }) })).toBeNull();
  expect(lengthOf({ coverage: { unit: "sheet", unit_count: 12 } })).toEqual({ unit: "sheet", count: 12 });
  expect(lengthOf({ coverage: { unit: "message", unit_count: 1 } })).toEqual({ unit: "message", count: 1 });
  expect(lengthOf({ coverage: { unit: "front", unit_count: 15 } })).toEqual({ unit: "chapter", count: 14 });
  expect(lengthOf({ coverage: report({ units: [page(1, { unit: "front" }), page(1, { unit: "chapter" })] }) })).toEqual(
    {
      unit: "chapter",
      count: 1,
    },
  );
  expect(lengthOf({ coverage: { unit: "front", unit_count: 1 } })).toBeNull();
  expect(lengthOf({ coverage: { unit: "file", unit_count: 1 } })).toBeNull();
  expect(lengthOf({ coverage: null })).toBeNull();
});

it("names types by how many files have them", () => {
  expect(typesOf([file({ type: "pdf" }), file({ type: "csv" }), file({ type: "csv" })])).toEqual(["csv", "pdf"]);
});
