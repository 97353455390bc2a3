// Finds the quoted words in what was extracted, to mark them there.
import type { Schemas } from "../api/client";
import type { Locator } from "./state";

export type Element = Schemas["ElementOut"];

/** Parts of an element's text, or rows of its table, that belong to the passage. */
export interface Marks {
  ranges: [number, number][];
  rows: Set<number>;
}

const SHORTEST = 3;

/** Letters and digits in lower case, with the place that each had. */
function plain(text: string): { letters: string; places: number[] } {
  const places: number[] = [];
  let letters = "";
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index] ?? "";
    if (!/[\p{L}\p{N}]/u.test(letter)) continue;
    letters += letter.toLowerCase();
    places.push(index);
  }
  return { letters, places };
}

/** Where the parts of a quote are in a text, whatever spaces and punctuation lie between. */
export function findQuote(text: string, quote: string): [number, number][] {
  const { letters, places } = plain(text);
  const found: [number, number][] = [];
  for (const part of quote.split(/\n+/)) {
    const sought = plain(part).letters;
    if (sought.length < SHORTEST) continue;
    const at = letters.indexOf(sought);
    const [first, last] = [places[at], places[at + sought.length - 1]];
    if (at >= 0 && first !== undefined && last !== undefined) found.push([first, last + 1]);
    else if (letters.length >= SHORTEST && sought.includes(letters)) found.push([0, text.length]);
  }
  return merged(found);
}

function merged(ranges: [number, number][]): [number, number][] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  for (const range of sorted) {
    const last = out.at(-1);
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else out.push([range[0], range[1]]);
  }
  return out;
}

/** Rows of a table whose non-empty cells are all in the quote; header rows are left out. */
export function findRows(grid: readonly string[][], headerRows: number, quote: string): Set<number> {
  const lines = quote.split("\n").map((line) => plain(line).letters);
  const rows = new Set<number>();
  grid.forEach((cells, index) => {
    const filled = cells.map((cell) => plain(cell).letters).filter(Boolean);
    if (index < headerRows || !filled.length) return;
    if (lines.some((line) => filled.every((cell) => line.includes(cell)))) rows.add(index);
  });
  return rows;
}

function isNear(element: Element, place: Locator | undefined): boolean {
  if (!place) return true;
  const { page, pages, slide, headings, row } = place;
  if (slide !== undefined) return element.locator.slide === slide;
  if (page !== undefined) return (pages ?? [page]).includes(element.locator.page ?? -1);
  if (row !== undefined && element.locator.row !== undefined) return element.locator.row === row;
  const last = headings?.at(-1);
  return last === undefined || element.text === last || (element.locator.headings ?? []).includes(last);
}

/** The marks of each element that the passage touches; elements near its place first, all when nothing is found there. */
export function findPassage(
  elements: readonly Element[],
  place: Locator | undefined,
  quote: string | undefined,
): Map<string, Marks> {
  if (!quote?.trim()) return new Map();
  const near = search(
    elements.filter((element) => isNear(element, place)),
    quote,
  );
  return near.size ? near : search(elements, quote);
}

function search(elements: readonly Element[], quote: string): Map<string, Marks> {
  const whole = new Map<string, Marks>();
  const within = new Map<string, Marks>();
  const length = plain(quote).letters.length;
  for (const element of elements) {
    const rows = element.grid ? findRows(element.grid, element.header_rows ?? 0, quote) : new Set<number>();
    const ranges = element.grid ? [] : findQuote(element.text, quote);
    if (!rows.size && !ranges.length) continue;
    const marks = { ranges, rows };
    within.set(element.id, marks);
    const covered = ranges.reduce((sum, [from, to]) => sum + plain(element.text.slice(from, to)).letters.length, 0);
    if (covered >= length || rows.size) whole.set(element.id, marks);
  }
  return whole.size ? whole : within;
}
