import { describe, expect, test } from "vitest";
import { cellAfter, within } from "../../src/viewer/gridKeys";

const SHAPE = { rows: 101, columns: 5, page: 20 };
const key = (name: string, held: Partial<KeyboardEvent> = {}) => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});
const from = { row: 50, column: 2 };

describe("keys in a grid", () => {
  test.each([
    ["ArrowUp", { row: 49, column: 2 }],
    ["ArrowDown", { row: 51, column: 2 }],
    ["ArrowLeft", { row: 50, column: 1 }],
    ["ArrowRight", { row: 50, column: 3 }],
    ["Home", { row: 50, column: 0 }],
    ["End", { row: 50, column: 4 }],
    ["PageUp", { row: 30, column: 2 }],
    ["PageDown", { row: 70, column: 2 }],
  ])("%s moves within the row or column", (name, place) => expect(cellAfter(from, key(name), SHAPE)).toEqual(place));

  test.each([
    ["Home", { row: 0, column: 0 }],
    ["End", { row: 100, column: 4 }],
    ["ArrowUp", { row: 0, column: 2 }],
    ["ArrowDown", { row: 100, column: 2 }],
    ["ArrowLeft", { row: 50, column: 0 }],
    ["ArrowRight", { row: 50, column: 4 }],
  ])("%s with Ctrl or ⌘ goes to the end", (name, place) => {
    expect(cellAfter(from, key(name, { ctrlKey: true }), SHAPE)).toEqual(place);
    expect(cellAfter(from, key(name, { metaKey: true }), SHAPE)).toEqual(place);
  });

  test("the edges hold", () => {
    expect(cellAfter({ row: 0, column: 0 }, key("ArrowUp"), SHAPE)).toEqual({ row: 0, column: 0 });
    expect(cellAfter({ row: 0, column: 0 }, key("ArrowLeft"), SHAPE)).toEqual({ row: 0, column: 0 });
    expect(cellAfter({ row: 95, column: 4 }, key("PageDown"), SHAPE)).toEqual({ row: 100, column: 4 });
    expect(cellAfter({ row: 3, column: 4 }, key("PageUp"), SHAPE)).toEqual({ row: 0, column: 4 });
    expect(cellAfter({ row: 3, column: 4 }, key("ArrowRight"), SHAPE)).toEqual({ row: 3, column: 4 });
  });

  test("other keys are left to the browser", () => {
    for (const press of [key("a"), key("Tab"), key("c", { ctrlKey: true }), key("ArrowDown", { shiftKey: true })])
      expect(cellAfter(from, press, SHAPE)).toBeUndefined();
    expect(cellAfter(from, key("ArrowLeft", { altKey: true }), SHAPE)).toBeUndefined();
  });

  test("a table without rows has its header alone", () =>
    expect(within({ row: 1, column: 1 }, { rows: 1, columns: 3 })).toEqual({ row: 0, column: 1 }));
});
