// Round numbers along an axis, and where values lie between them.

export interface Scale {
  ticks: number[];
  /** Of the axis, 0 at its beginning to 1 at its end. */
  at: (value: number) => number;
}

const ROUND = [1, 2, 2.5, 5, 10];

/** An axis from zero (or below) that ends at round numbers and holds all values. Whole numbers have whole steps: there are no half rows. */
export function scaleOf(values: readonly number[], most = 5): Scale {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const isWhole = values.every(Number.isInteger);
  const steps = ROUND.map((factor) => factor * power).filter((step) => !isWhole || Number.isInteger(tidy(step)));
  const step = steps.find((step) => step * most >= span * 0.999) ?? 10 * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => tidy((first + index) * step));
  const [from, to] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  return { ticks, at: (value) => (value - from) / (to - from) };
}

/** Without the noise of binary fractions. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
