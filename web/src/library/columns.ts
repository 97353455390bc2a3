// Columns of data files with their statistics, and histograms ready to be drawn.
import { formatPrecise } from "../lib/format";
import type { Column, Table } from "../viewer/tables";
import type { Spread } from "./queries";

export type ColumnFacts = Column;
export type TableFacts = Table;

export interface HistogramBar {
  label: string;
  count: number;
  /** Of the tallest bar, 0 to 1. */
  height: number;
}

/** Bars to draw. A numeric bar is named by its range, which ends where the next one begins; the last at the column's maximum. */
export function barsOf(spread: Spread, max?: number | string | null): HistogramBar[] {
  const tallest = Math.max(1, ...spread.bars.map(({ count }) => count));
  return spread.bars.map(({ label, count }, index) => {
    const end = spread.bars[index + 1]?.label ?? max ?? undefined;
    const hasRange = spread.numeric && spread.bars.length > 1 && end !== undefined;
    const name = spread.numeric ? nicely(label) : label;
    return { label: hasRange ? `${name} – ${nicely(end)}` : name, count, height: count / tallest };
  });
}

function nicely(value: string | number): string {
  const number = Number(value);
  return Number.isFinite(number) ? formatPrecise(number) : String(value);
}

/** A statistic as a person reads it; dates and texts as they are. A column without values has none. */
export function statistic(value: number | string | null | undefined): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "number" ? formatPrecise(value) : value;
}
