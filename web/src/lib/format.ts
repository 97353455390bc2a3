// Numbers, sizes, times and durations, as the language of the interface writes them.

/** The language and region of the interface's figures. */
let LOCALE = "en-GB";

/** Where the reader is, as servers know it: `Europe/Berlin`. */
export const timeZone = (): string => new Intl.DateTimeFormat(LOCALE).resolvedOptions().timeZone;

const UNITS = ["kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Made once for a locale: making one takes longer than a hundred uses. */
function formatsOf() {
  return {
    number: new Intl.NumberFormat(LOCALE),
    tenths: new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 }),
    plural: new Intl.PluralRules(LOCALE),
    percent: new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 0 }),
    precisePercent: new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 }),
    dollars: new Intl.NumberFormat(LOCALE, {
      style: "currency",
      currency: "USD",
      currencyDisplay: "narrowSymbol",
      minimumFractionDigits: 2,
      maximumFractionDigits: 4,
    }),
    cents: new Intl.NumberFormat(LOCALE, {
      style: "currency",
      currency: "USD",
      currencyDisplay: "narrowSymbol",
      maximumSignificantDigits: 2,
    }),
    languages: new Intl.DisplayNames(LOCALE, { type: "language" }),
    compact: new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 }),
    brief: new Intl.NumberFormat(LOCALE, { notation: "compact", maximumSignificantDigits: 2 }),
    precise: new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 3 }),
    day: new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" }),
    moment: new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" }),
    relative: new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" }),
    bytes: new Intl.NumberFormat(LOCALE, { style: "unit", unit: "byte", unitDisplay: "long" }),
    sizes: UNITS.map(
      (unit, step) =>
        new Intl.NumberFormat(LOCALE, {
          style: "unit",
          unit,
          unitDisplay: "short",
          maximumFractionDigits: step > 0 ? 1 : 0,
        }),
    ),
  };
}

let formats = formatsOf();

/** Write figures as in this language and region, `de-AT`. */
export function setLocale(locale: string): void {
  LOCALE = locale;
  formats = formatsOf();
}

export const formatNumber = (value: number): string => formats.number.format(value);
export const formatPercent = (share: number): string => formats.percent.format(share);
export const formatPrecisePercent = (share: number): string => formats.precisePercent.format(share);
/** A small amount keeps its first two digits: it is not free. */
export const formatDollars = (value: number): string =>
  (0 < value && value < 0.001 ? formats.cents : formats.dollars).format(value);
export const formatCompact = (value: number): string => formats.compact.format(value);
/** Two digits, for what is an estimate: `12,345` → `12k`. */
export const formatBriefly = (value: number): string => formats.brief.format(value);
export const formatPrecise = (value: number): string => formats.precise.format(value);
export const formatDay = (iso: string): string => formats.day.format(new Date(iso));
export const formatMoment = (iso: string): string => formats.moment.format(new Date(iso));

/** `1 page`, `2 pages`, `1,234 pages`. */
export function counted(n: number, one: string, many: string): string {
  return `${formats.number.format(n)} ${formats.plural.select(n) === "one" ? one : many}`;
}

/** The name of a language: `de` → `German`. */
export function languageName(code: string): string {
  try {
    return formats.languages.of(code) ?? code;
  } catch {
    return code;
  }
}

/** `997` → `997 bytes`, `46730` → `47 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return formats.bytes.format(bytes);
  // What would be rounded to a thousand of a unit is one of the next.
  const found = UNITS.findIndex((_, index) => bytes < 999_500 * 1_000 ** index);
  const step = found < 0 ? UNITS.length - 1 : found;
  return (formats.sizes[step] as Intl.NumberFormat).format(bytes / 1_000 ** (step + 1));
}

/** Milliseconds as a person would say them: `8.5 ms`, `1.5 s`, `2 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 10) return `${formats.tenths.format(milliseconds)} ms`;
  if (milliseconds < 1_000) return `${formats.number.format(Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${formats.tenths.format(milliseconds / 1_000)} s`;
  return `${formats.tenths.format(milliseconds / 60_000)} min`;
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
  return step ? formats.relative.format(Math.trunc(seconds / step[1]), step[0]) : formats.relative.format(0, "second");
}
