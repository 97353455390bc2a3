import { describe, expect, it } from "vitest";
import { kindOf, ranges, remarksOf, sharesOf } from "../../src/library/coverage";
import { page, report } from "./files";

describe("kindOf", () => {
  it("tells read, by OCR, empty and left out apart", () => {
    expect(kindOf(page(1))).toBe("read");
    expect(kindOf(page(1, { ocr_share: 0.8 }))).toBe("ocr");
    expect(kindOf(page(1, { characters: 0, words: 0 }))).toBe("empty");
    expect(kindOf(page(1, { skipped: ["page limit"] }))).toBe("skipped");
  });

  it("lets what was left out weigh more than what was read", () => {
    expect(kindOf(page(1, { ocr_share: 1, skipped: ["image too large"] }))).toBe("skipped");
  });

  it("does not call a sheet of rows or a page with a table empty", () => {
    expect(kindOf(page(1, { characters: 0, rows: 3 }))).toBe("read");
    expect(kindOf(page(1, { characters: 0, tables: 1 }))).toBe("read");
  });
});

it("adds shares up to one, and leaves out kinds without a page", () => {
  const shares = sharesOf([page(1), page(2), page(3, { characters: 0 }), page(4, { ocr_share: 1 })]);
  expect(shares).toEqual([
    { kind: "read", count: 2, share: 0.5 },
    { kind: "ocr", count: 1, share: 0.25 },
    { kind: "empty", count: 1, share: 0.25 },
  ]);
  expect(sharesOf([])).toEqual([]);
});

it("says each remark once, with its pages", () => {
  const signed = report({
    units: [page(1, { warnings: ["blurred"] }), page(2, { warnings: ["blurred"], skipped: ["too large"] })],
    warnings: ["signed"],
  });
  expect(remarksOf(signed)).toEqual([
    { text: "signed", numbers: [] },
    { text: "blurred", numbers: [1, 2] },
    { text: "too large", numbers: [2] },
  ]);
});

it("writes page numbers as ranges", () => {
  expect(ranges([3, 1, 2, 7, 9, 10])).toBe("1–3, 7, 9–10");
  expect(ranges([5, 5])).toBe("5");
  expect(ranges([])).toBe("");
});
