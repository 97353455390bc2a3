import { describe, expect, it } from "vitest";
import { layOut, nameOf } from "../../src/chat/picture/layout";
import { scaleOf } from "../../src/chat/picture/scale";
import { type Drawing, drawingOf, type Picture, placeOfRows, type Value } from "../../src/chat/picture/spec";

const quarters: Value[] = [10, 40, 25, 55].map((y, index) => ({
  x: `Q${index + 1} 2031`,
  y,
  rows: `row ${index + 2}`,
  row: index + 2,
  row_end: index + 2,
}));

function picture(values: Value[], changes: Partial<Picture> = {}): Picture {
  return {
    title: "Costs by Quarter",
    description: "Bars",
    data: { values },
    mark: { type: "bar" },
    encoding: {
      x: { field: "x", type: "nominal", title: "Quarter" },
      y: { field: "y", type: "quantitative", title: "Costs" },
    },
    usermeta: {
      citewell: {
        resource_id: "r",
        version: 1,
        filename: "f.csv",
        sheet: null,
        column: "Costs",
        open: true,
        total: values.length,
      },
    },
    ...changes,
  };
}

function drawing(values: Value[], changes: Partial<Picture> = {}): Drawing {
  const found = drawingOf(picture(values, changes));
  if (!found) throw new Error("nothing to draw");
  return found;
}

describe("a scale", () => {
  it.each([
    [
      [3, 9],
      [0, 2, 4, 6, 8, 10],
    ],
    [
      [82_750, 66_300],
      [0, 20_000, 40_000, 60_000, 80_000, 100_000],
    ],
    [
      [-4, 5],
      [-4, -2, 0, 2, 4, 6],
    ],
    [
      [2, 1, 1],
      [0, 1, 2],
    ],
    [
      [12, 3],
      [0, 5, 10, 15],
    ],
    [
      [0.1, 0.35],
      [0, 0.1, 0.2, 0.3, 0.4],
    ],
    [[0], [0, 1]],
  ])("of %j ends at round numbers and holds zero", (values, ticks) => {
    const scale = scaleOf(values);
    expect(scale.ticks).toEqual(ticks);
    for (const value of values) {
      expect(scale.at(value)).toBeGreaterThanOrEqual(0);
      expect(scale.at(value)).toBeLessThanOrEqual(1);
    }
  });
});

describe("a specification", () => {
  it("is bars, lying bars, a line or ranges", () => {
    expect(drawing(quarters).form).toBe("bars");
    const lying = { y: { field: "x", title: "Quarter" }, x: { field: "y", title: "Costs" } };
    expect(drawing(quarters, { encoding: lying })).toMatchObject({ form: "lying", x: "Quarter", y: "Costs" });
    expect(drawing(quarters, { mark: { type: "line" } }).form).toBe("line");
    const ranges = { x: { field: "x" }, x2: { field: "x_end" }, y: { field: "y" } };
    expect(drawing([{ x: 0, x_end: 5, y: 2, rows: "" }], { encoding: ranges }).form).toBe("histogram");
  });

  it("that is none of them, or has no values, is not drawn", () => {
    expect(drawingOf(picture(quarters, { mark: { type: "arc" } }))).toBeUndefined();
    expect(drawingOf(picture(quarters, { encoding: {} }))).toBeUndefined();
    expect(drawingOf(picture([]))).toBeUndefined();
  });

  it("says where the rows behind a value are", () => {
    expect(placeOfRows(picture(quarters), quarters[0] as Value)).toEqual({ column: "Costs", row: 2 });
    const several = { x: "a", y: 1, rows: "3 rows", row: 2, row_end: 9 };
    expect(placeOfRows(picture([several]), several)).toEqual({ column: "Costs", row: 2, row_end: 9 });
  });
});

describe("a layout", () => {
  const inside = (found: ReturnType<typeof layOut>): void => {
    for (const bar of found.bars) {
      expect(bar.x).toBeGreaterThanOrEqual(0);
      expect(bar.x + bar.width).toBeLessThanOrEqual(found.width + 0.01);
      expect(bar.y).toBeGreaterThanOrEqual(0);
      expect(bar.y + bar.height).toBeLessThanOrEqual(found.height);
    }
  };

  it.each([320, 700])("of bars keeps their proportions inside %i pixels", (width) => {
    const found = layOut(drawing(quarters), width);
    inside(found);
    const sizes = found.bars.map(({ width: wide, height }) => (width === 700 ? height : wide));
    expect((sizes[1] ?? 0) / (sizes[0] ?? 1)).toBeCloseTo(width === 700 ? 4 : (sizes[1] ?? 0) / (sizes[0] ?? 1), 1);
  });

  it("lays bars down where their names do not fit side by side", () => {
    const long = quarters.map((value, index) => ({ ...value, x: `a rather long name ${index}` }));
    const [wide, narrow] = [layOut(drawing(quarters), 700), layOut(drawing(long), 340)];
    expect(new Set(wide.bars.map(({ x }) => x)).size).toBe(4);
    expect(new Set(narrow.bars.map(({ x }) => x)).size).toBe(1);
    expect(new Set(narrow.bars.map(({ y }) => y)).size).toBe(4);
    expect((narrow.bars[1]?.width ?? 0) / (narrow.bars[0]?.width ?? 1)).toBeCloseTo(4, 0);
    inside(narrow);
  });

  it("puts series beside each other", () => {
    const two = quarters.flatMap((value) => [
      { ...value, series: "a" },
      { ...value, series: "b" },
    ]);
    const found = layOut(drawing(two), 700);
    const [first, second] = found.bars;
    expect((first?.x ?? 0) + (first?.width ?? 0)).toBeLessThanOrEqual(second?.x ?? 0);
    inside(found);
  });

  it("draws what is below zero down from it", () => {
    const found = layOut(drawing([...quarters, { x: "Q5", y: -20, rows: "row 6" }]), 700);
    const zero = found.grid.find(({ isZero }) => isZero)?.y1;
    expect(found.bars.at(-1)?.y).toBeCloseTo(zero ?? -1);
    expect((found.bars[0]?.y ?? 0) + (found.bars[0]?.height ?? 0)).toBeCloseTo(zero ?? -1);
  });

  it("names no more moments than fit", () => {
    const days = Array.from({ length: 90 }, (_, day) => ({ x: `2031-01-${day}`, y: day, rows: "row" }));
    const found = layOut(drawing(days, { mark: { type: "line" } }), 360);
    expect(found.lines[0]).toHaveLength(90);
    const below = found.labels.filter(({ anchor }) => anchor === "middle");
    expect(below.length).toBeGreaterThan(1);
    expect(below.length).toBeLessThan(6);
  });

  it("leaves a gap where a range of a histogram is empty", () => {
    const values = [0, 5, 15].map((x) => ({ x, x_end: x + 5, y: 2, rows: "2 rows" }));
    const encoding = { x: { field: "x" }, x2: { field: "x_end" }, y: { field: "y" } };
    const [, second, third] = layOut(drawing(values, { encoding }), 600).bars;
    expect((third?.x ?? 0) - (second?.x ?? 0)).toBeGreaterThan(1.9 * (second?.width ?? 0));
    expect(nameOf(values[1] as Value)).toBe("5 – 10");
  });
});
