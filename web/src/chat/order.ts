// Source numbers run in the order of the text; several places of one file are one line.
import type { Citation } from "../api/client";
import { MARKER } from "./markers";

/** An answer and its citations, numbered by where the text first cites each. What the text does not cite comes last. */
export function inOrder(text: string, citations: readonly Citation[]): { text: string; citations: Citation[] } {
  const known = new Set(citations.map(({ n }) => n));
  const cited = [...text.matchAll(MARKER)].flatMap((match) => numbersIn(match[1] ?? ""));
  // A number in brackets that cites nothing must not begin to.
  if (cited.some((n) => !known.has(n) && n <= citations.length)) return { text, citations: [...citations] };
  const rest = [...known].sort((a, b) => a - b);
  const places = new Map<number, number>();
  for (const n of [...cited, ...rest]) if (known.has(n) && !places.has(n)) places.set(n, places.size + 1);
  return {
    text: text.replace(MARKER, (marker) => marker.replace(/\d+/g, (n) => String(places.get(Number(n)) ?? n))),
    citations: citations
      .map((citation) => ({ ...citation, n: places.get(citation.n) ?? citation.n }))
      .sort((a, b) => a.n - b.n),
  };
}

function numbersIn(marker: string): number[] {
  return marker.split(/[,;]/).map(Number);
}

/** Citations of pages, slides or rows of one version of one file together; any other by itself. */
export function byFile(citations: readonly Citation[]): Citation[][] {
  const groups = new Map<string, Citation[]>();
  for (const citation of [...citations].sort((a, b) => a.n - b.n)) {
    const { sheet, row, page, slide } = citation.locator;
    const part =
      row !== undefined ? `row ${sheet}` : slide !== undefined ? "slide" : page !== undefined ? "page" : null;
    const isWhole = part === null || citation.image || citation.available === false;
    const key = isWhole ? `${citation.n}` : `${citation.resource_id} ${citation.version} ${part}`;
    groups.set(key, [...(groups.get(key) ?? []), citation]);
  }
  return [...groups.values()];
}
