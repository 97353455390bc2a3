// Numbers, sizes, times and durations in the reader's own locale.

const number = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const precise = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

export const formatNumber = (value: number): string => number.format(value);
export const formatCompact = (value: number): string => compact.format(value);
export const formatPrecise = (value: number): string => precise.format(value);
export const formatDay = (iso: string): string => day.format(new Date(iso));
export const formatMoment = (iso: string): string => moment.format(new Date(iso));

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
// Made once: making one takes longer than a hundred uses.
const sizes = UNITS.map((unit, step) => new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: step > 1 ? 1 : 0 }));

/** `46730` → `47 kB`, as the locale writes it. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return (sizes[step] as Intl.NumberFormat).format(bytes / 1_000 ** step);
}

/** Milliseconds as a person would say them. */
export function formatDuration(milliseconds: number): string {
  const unit = (value: number, name: "millisecond" | "second" | "minute", digits: number): string =>
    new Intl.NumberFormat(undefined, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits }).format(value);
  if (milliseconds < 1_000) return unit(milliseconds, "millisecond", milliseconds < 10 ? 1 : 0);
  if (milliseconds < 60_000) return unit(milliseconds / 1_000, "second", 1);
  return unit(milliseconds / 60_000, "minute", 1);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** `3 hours ago`; the date itself after a week. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1_000;
  if (seconds < -7 * 86_400) return formatDay(iso);
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : relative.format(0, "second");
}
