import { expect, it } from "vitest";
import { type Item, overlayOf, placeOf } from "../../src/library/items";
import { sumReceipts } from "../../src/library/receipt";

const item = (id: string, boxes: Item["locator"]["boxes"]): Item => ({
  id,
  kind: "Text",
  tone: "text",
  text: "",
  place: "",
  locator: { boxes },
});

it("draws one outline around all lines of an item, on each of its pages", () => {
  const lines = [
    { page: 1, x0: 10, y0: 90, x1: 50, y1: 100 },
    { page: 1, x0: 5, y0: 105, x1: 40, y1: 115 },
    { page: 2, x0: 10, y0: 10, x1: 60, y1: 20 },
  ];
  const drawn = overlayOf([item("without", undefined), item("with", lines)]);
  expect(drawn.map(({ page, x0, y0, x1, y1, label }) => [page, x0, y0, x1, y1, label])).toEqual([
    [1, 5, 90, 50, 115, "2"],
    [2, 10, 10, 60, 20, "2"],
  ]);
});

it("says where something is", () => {
  expect(placeOf({ page: 3, pages: [3] })).toBe("p. 3");
  expect(placeOf({ pages: [3, 4], page: 3 })).toBe("pp. 3–4");
  expect(placeOf({ sheet: "Loans", row: 2, row_end: 9 })).toBe("Loans · rows 2–9");
  expect(placeOf({ char_start: 4 })).toBe("");
});

it("adds receipts up", () => {
  const receipt = { deleted: ["a", "b"], chunks: 3, elements: 4, files: 5, quotations: 0, vectors_left: 0 };
  expect(sumReceipts([receipt, { ...receipt, vectors_left: 1 }]).map(({ count }) => count)).toEqual([4, 6, 8, 10, 1]);
});
