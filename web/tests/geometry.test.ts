import { describe, expect, it } from "vitest";
import { firstPage, rectangles, topOf } from "../src/viewer/geometry";
import { tableAt } from "../src/viewer/tables";

const boxes = [
  { page: 3, x0: 56, y0: 115, x1: 330, y1: 127 },
  { page: 4, x0: 56, y0: 60, x1: 100, y1: 72 },
  { page: 3, x0: 56, y0: 101, x1: 80, y1: 113 },
];

describe("rectangles", () => {
  it("of a page only, scaled, cover the box and little more", () => {
    const [first, second] = rectangles(boxes, 3, 2);
    expect(rectangles(boxes, 3, 2)).toHaveLength(2);
    expect(first && first.left <= 112 && first.left + first.width >= 660).toBe(true);
    expect(first && first.height - 24).toBeLessThanOrEqual(8);
    expect(second && second.top <= 202).toBe(true);
  });

  it("say where to go", () => {
    expect(firstPage({ boxes })).toBe(3);
    expect(firstPage({ pages: [7, 8] })).toBe(7);
    expect(firstPage(undefined)).toBeUndefined();
    expect(topOf({ boxes }, 3)).toBe(101);
    expect(topOf({ page: 2 }, 2)).toBe(0);
  });
});

describe("the table of a place", () => {
  const table = { name: "", columns: [], row_count: 3, copy: "x" };
  const tables = [
    { ...table, id: "t0", sheet: "A", first_row: 2, last_row: 9 },
    { ...table, id: "t1", sheet: "A", first_row: 12, last_row: 20 },
    { ...table, id: "t2", sheet: "B" },
  ];

  it("is the one around its row on its sheet", () => {
    expect(tableAt(tables, { sheet: "A", row: 14 })?.id).toBe("t1");
    expect(tableAt(tables, { sheet: "B", row: 14 })?.id).toBe("t2");
    expect(tableAt(tables, { sheet: "A" })?.id).toBe("t0");
    expect(tableAt(tables, undefined)?.id).toBe("t0");
  });
});
