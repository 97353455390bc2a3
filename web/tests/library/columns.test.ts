import { expect, it } from "vitest";
import { barsOf, statistic } from "../../src/library/columns";

it("names a numeric bar by its range, the last up to the maximum", () => {
  const bars = barsOf(
    {
      numeric: true,
      others: 0,
      bars: [
        { label: "0", count: 4 },
        { label: "5", count: 8 },
      ],
    },
    10,
  );
  expect(bars).toEqual([
    { label: "0 – 5", count: 4, height: 0.5 },
    { label: "5 – 10", count: 8, height: 1 },
  ]);
});

it("names a single value by itself, and texts as they are", () => {
  expect(barsOf({ numeric: true, others: 0, bars: [{ label: "7", count: 3 }] }, 7)[0]?.label).toBe("7");
  expect(barsOf({ numeric: false, others: 2, bars: [{ label: "1e3", count: 3 }] })[0]?.label).toBe("1e3");
});

it("draws no bar for an empty column, and none of a height that is no number", () => {
  expect(barsOf({ numeric: true, others: 0, bars: [] })).toEqual([]);
  expect(barsOf({ numeric: true, others: 0, bars: [{ label: "0", count: 0 }] })[0]?.height).toBe(0);
});

it("shows a dash where a column has no values to count with", () => {
  expect([statistic(null), statistic(undefined), statistic(0)]).toEqual(["–", "–", "0"]);
});
