// `[1]` and `[1, 2]` in an answer become chips, and the words before them a claim with a verdict.
import type { Root, RootContent, Table, Text } from "mdast";
import type { Citation } from "../api/client";
import { t } from "../strings";
import { quoteInWords } from "./passages";

/** `[1]` or `[1, 2]`, with the space before it. */
export const MARKER = /\s*\[(\d{1,4}(?:[ \t]*[,;][ \t]*\d{1,4})*)\]/g;
const SENTENCE_END = /[.!?。！？]["'”’)]*\s+/g;

export interface Piece {
  text: string;
  /** Numbers cited after these words; empty for words without a citation. */
  numbers: number[];
}

/** A text cut at its markers: `A. B [1][2] C` → `A. `, `B` citing 1 and 2, ` C`. A marker after the full stop belongs before it. */
export function cut(text: string, known: ReadonlySet<number>): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKER)) {
    const numbers = (match[1] ?? "")
      .split(/[,;]/)
      .map(Number)
      .filter((n) => known.has(n));
    if (!numbers.length) continue;
    const words = text.slice(from, match.index);
    from = match.index + match[0].length;
    const last = pieces.at(-1);
    if (!words.trim() && last?.numbers.length) {
      last.numbers.push(...numbers.filter((n) => !last.numbers.includes(n)));
      continue;
    }
    const start = lastSentence(words);
    if (start > 0) pieces.push({ text: words.slice(0, start), numbers: [] });
    pieces.push({ text: words.slice(start), numbers });
  }
  if (from < text.length) pieces.push({ text: text.slice(from), numbers: [] });
  return pieces;
}

/** Where the last sentence of some words begins. */
function lastSentence(words: string): number {
  const body = words.trimEnd().replace(/[.!?。！？"'”’)]+$/, "");
  let start = 0;
  for (const end of body.matchAll(SENTENCE_END)) start = end.index + end[0].length;
  return start;
}

const RANK = ["supported", "weak", "unsupported"];

/** The weakest verdict of some citations. */
export function weakest(citations: readonly Citation[]): string {
  return citations.reduce(
    (worst, { verdict }) => (RANK.indexOf(verdict) > RANK.indexOf(worst) ? verdict : worst),
    "supported",
  );
}

/** A text that is still coming, without its markers: what they refer to is not known yet. */
export function withoutMarkers(text: string): string {
  return text.replace(MARKER, "").replace(/\s*\[\d*$/, "");
}

interface Parent {
  children: RootContent[];
}

/** What holds no chips: code, which is shown unchanged, and links, in which nothing else can be chosen. */
const OPAQUE = new Set(["code", "inlineCode", "link", "linkReference"]);

/** A remark plugin; the nodes it makes are rendered by the components `cite-claim` and `cite-chip`. Every citation gets a chip. */
export function citeMarkers({ citations }: { citations: readonly Citation[] }) {
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  const known = new Set(byNumber.keys());
  const seen = new Set<number>();
  const rewrite = (parent: Parent): void => {
    parent.children = parent.children.flatMap((node) => {
      if (node.type === "text") return cut(node.value, known).flatMap((piece) => nodes(piece));
      if (OPAQUE.has(node.type)) {
        const after = chips(takeMarkers(node, known));
        return after.length && node.type === "code" ? [node, paragraph(after)] : [node, ...after];
      }
      if (node.type === "table") keepCells(node);
      if ("children" in node) rewrite(node as unknown as Parent);
      return [node];
    });
  };
  const nodes = ({ text, numbers }: Piece): RootContent[] => {
    const words: Text = { type: "text", value: text };
    if (!numbers.length) return [words];
    const verdict = weakest(numbers.map((n) => byNumber.get(n)).filter((c) => c !== undefined));
    return [...(text ? [element("cite-claim", { verdict }, [words])] : []), ...chips(numbers)];
  };
  const chips = (numbers: readonly number[]): RootContent[] =>
    numbers.map((n) => {
      seen.add(n);
      return element("cite-chip", { n }, []);
    });
  return (tree: Root): void => {
    seen.clear();
    rewrite(tree);
    const left = [...known].filter((n) => !seen.has(n));
    if (left.length) tree.children.push(paragraph(chips(left)));
  };
}

/** Take the markers out of a node that holds no chips; their numbers. */
function takeMarkers(node: RootContent, known: ReadonlySet<number>): number[] {
  if ("value" in node) {
    const numbers = cut(node.value, known).flatMap((piece) => piece.numbers);
    if (numbers.length) {
      node.value = cut(node.value, known)
        .map(({ text }) => text)
        .join("");
    }
    return [...new Set(numbers)];
  }
  if (!("children" in node)) return [];
  return [...new Set(node.children.flatMap((child) => takeMarkers(child, known)))];
}

/** Move what follows the last column of a table into it: cells without a column are not shown. */
function keepCells(table: Table): void {
  const columns = table.children[0]?.children.length ?? 0;
  for (const row of table.children) {
    const beyond = row.children.splice(columns);
    row.children.at(-1)?.children.push(...beyond.flatMap((cell) => cell.children));
  }
}

function paragraph(children: RootContent[]): RootContent {
  return { type: "paragraph", children } as RootContent;
}

function element(name: string, properties: Record<string, unknown>, children: RootContent[]): RootContent {
  return { type: "emphasis", data: { hName: name, hProperties: properties }, children } as unknown as RootContent;
}

/** The file's name, and the place in it as briefly as it can be said. */
export function splitLabel(citation: Pick<Citation, "label" | "filename" | "locator">): {
  name: string;
  place: string;
} {
  const { filename, label, locator } = citation;
  const rest = label.startsWith(filename)
    ? label
        .slice(filename.length)
        .trim()
        .replace(/^\(|\)$/g, "")
    : "";
  return { name: filename, place: placeIn(locator) ?? rest };
}

/** Sheet, row and column, or the page or slide; undefined where the file has no such parts. */
function placeIn({ sheet, row, row_end: end, column, page, pages, slide }: Citation["locator"]): string | undefined {
  if (sheet !== undefined || row !== undefined) {
    const rows = row === undefined ? "" : end !== undefined && end !== row ? t.rowRange(row, end) : t.rowNumber(row);
    return [sheet, rows, column].filter(Boolean).join(", ");
  }
  if (slide !== undefined) return t.slidePlace(slide);
  const [first, last] = [pages?.[0] ?? page, pages?.at(-1) ?? page];
  if (first === undefined || last === undefined) return undefined;
  return first === last ? t.pagePlace(first) : t.pagesPlace(first, last);
}

/** The answer as plain text with its sources below it. passages: the texts of cited passages by id, as far as they are known. */
export function withReferences(
  answer: string,
  citations: readonly Citation[],
  heading: string,
  passages: ReadonlyMap<string, string> = new Map(),
): string {
  if (!citations.length) return answer;
  const quoted = (c: Citation): string =>
    quoteInWords(c.quote, passages.get(c.chunk_id) ?? c.quote, c.locator.row !== undefined);
  const lines = [...citations].sort((a, b) => a.n - b.n).map((c) => `[${c.n}] ${c.label}: “${quoted(c)}”`);
  return `${answer.trim()}\n\n${heading}\n${lines.join("\n")}\n`;
}
