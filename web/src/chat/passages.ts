// What a passage shows: its words, and the rows of tables as tables, whichever way the passage writes them.

export interface PassageTable {
  header: string[];
  rows: string[][];
  /** Rows that are not shown. */
  left: number;
}

export type PassagePart = { words: string; isQuoted: boolean } | { table: PassageTable };

const ROW = /^[ \t]*\|.*\|[ \t]*$/;
const RULE = /^[ \t]*\|(?:[ \t]*:?-{3,}:?[ \t]*\|)+[ \t]*$/;
/** A row with the names of its cells, `Month: June | CAC: 214`, and the rows of the file behind it, `(3 rows: 4, 9, 12)`. */
const RECORD = /^[^\n|]{1,200}?: [^\n|]*(?: \| [^\n|]{1,200}?: [^\n|]*)*$/;
const BEHIND = / \((?:no rows|row \d+|[\d,]+ rows[:,] [\d, -]+)(?:; where .*)?\)$/;
const MOST_ROWS = 8;

interface Span {
  from: number;
  to: number;
}

function cells(line: string): string[] {
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** The table that a passage of one record is; undefined for other texts. */
function recordOf(text: string): PassageTable | undefined {
  const pairs = text.trim().replace(BEHIND, "");
  if (!RECORD.test(pairs)) return undefined;
  const fields = pairs.split(" | ").map((pair) => {
    const colon = pair.indexOf(": ");
    return [pair.slice(0, colon), pair.slice(colon + 2)] as const;
  });
  return { header: fields.map(([name]) => name), rows: [fields.map(([, value]) => value)], left: 0 };
}

function lines(text: string): (Span & { line: string })[] {
  let from = 0;
  return text.split("\n").map((line) => {
    const found = { line, from, to: from + line.length };
    from = found.to + 1;
    return found;
  });
}

/** The rows that are quoted, or the first where none is. */
function tableOf(rows: (Span & { line: string })[], quoted: Span): PassageTable {
  const [head, ...rest] = rows.filter(({ line }) => !RULE.test(line));
  const isQuoted = ({ from, to }: Span): boolean => from < quoted.to && to > quoted.from;
  const named = rest.filter(isQuoted);
  const body = named.length ? named : rest;
  return {
    header: cells(head?.line ?? ""),
    rows: body.slice(0, MOST_ROWS).map(({ line }) => cells(line)),
    left: rest.length - Math.min(body.length, MOST_ROWS),
  };
}

/** Words, cut where the quotation begins and ends. */
function wordsOf(text: string, { from, to }: Span, quoted: Span): PassagePart[] {
  const [start, end] = [Math.max(from, quoted.from), Math.min(to, quoted.to)];
  if (start >= end) return [{ words: text.slice(from, to), isQuoted: false }];
  return [
    { words: text.slice(from, start), isQuoted: false },
    { words: text.slice(start, end), isQuoted: true },
    { words: text.slice(end, to), isQuoted: false },
  ].filter(({ words }) => words);
}

/** A passage as it is shown. isData: whether it is of a sheet, so that `name: value` is a cell with its column. */
export function partsOf(whole: string, quote: string, isData: boolean): PassagePart[] {
  const record = isData ? recordOf(whole) : undefined;
  if (record) return [{ table: record }];
  const at = whole.indexOf(quote);
  const quoted = at < 0 ? { from: 0, to: 0 } : { from: at, to: at + quote.length };
  const parts: PassagePart[] = [];
  const all = lines(whole);
  let words: Span | undefined;
  for (let index = 0; index < all.length; index += 1) {
    const line = all[index] as Span & { line: string };
    if (ROW.test(line.line) && RULE.test(all[index + 1]?.line ?? "")) {
      let end = index + 2;
      while (ROW.test(all[end]?.line ?? "")) end += 1;
      if (words) parts.push(...wordsOf(whole, words, quoted));
      words = undefined;
      parts.push({ table: tableOf(all.slice(index, end), quoted) });
      index = end - 1;
    } else {
      words = { from: words?.from ?? line.from, to: line.to };
    }
  }
  if (words) parts.push(...wordsOf(whole, words, quoted));
  return parts.filter((part) => "table" in part || part.words.trim());
}

/** What a citation quotes, in words: of a table `Month: June; CAC: 214`, a line for each row. */
export function quoteInWords(quote: string, whole: string, isData: boolean): string {
  if (!quote.includes("|") && !(isData && recordOf(quote))) return quote.trim();
  const text = whole.includes(quote) ? whole : quote;
  return partsOf(text, quote, isData)
    .flatMap((part) => ("table" in part ? part.table.rows.map((row) => rowInWords(part.table.header, row)) : []))
    .concat(wordsQuoted(text, quote, isData))
    .join(" / ");
}

function wordsQuoted(text: string, quote: string, isData: boolean): string[] {
  return partsOf(text, quote, isData).flatMap((part) =>
    "words" in part && part.isQuoted ? [part.words.replaceAll(/[ \t]*\|[ \t]*/g, " ").trim()] : [],
  );
}

function rowInWords(header: readonly string[], row: readonly string[]): string {
  return row
    .map((cell, place) => (cell && header[place] ? `${header[place]}: ${cell}` : cell))
    .filter(Boolean)
    .join("; ");
}
