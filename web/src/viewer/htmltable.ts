// Reads a table's HTML into words and spans; tags, attributes and scripts in it go no further.

export interface HtmlCell {
  text: string;
  isHead: boolean;
  rowSpan: number;
  colSpan: number;
}

export type HtmlTable = HtmlCell[][];

const MOST_SPANNED = 1_000;

function span(cell: globalThis.Element, name: string): number {
  const value = Number(cell.getAttribute(name) ?? 1);
  return Number.isInteger(value) && value >= 1 && value <= MOST_SPANNED ? value : 1;
}

/** Rows of cells. The document is parsed apart from the page: nothing in it is loaded or run. */
export function readTable(html: string): HtmlTable {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return [...parsed.querySelectorAll("tr")].map((row) =>
    [...row.children].map((cell) => ({
      text: (cell.textContent ?? "").trim(),
      isHead: cell.tagName === "TH",
      rowSpan: span(cell, "rowspan"),
      colSpan: span(cell, "colspan"),
    })),
  );
}
