// Elements and chunks in one form for the list and for the overlay on the page.

import { type ElementType, lookUp, wordFor } from "../api/codes";
import { formatPercent } from "../lib/format";
import { t } from "../strings";
import { clock } from "../viewer/clock";
import type { Locator, Overlay } from "../viewer/state";
import type { Chunk, ExtractedElement } from "./queries";

export interface Item {
  id: string;
  /** The name of the kind, as people say it. */
  kind: string;
  /** Decides the colour: text, table, image or row. */
  tone: Tone;
  text: string;
  locator: Locator;
  place: string;
  note?: string;
  grid?: string[][];
  headerRows?: number;
  blob?: string;
  level?: number;
}

export type Tone = "title" | "text" | "table" | "image" | "row";

const TONES = { title: "title", table: "table", image: "image", row: "row" } satisfies Partial<
  Record<ElementType, Tone>
>;

/** Where something is, in a few words; empty for a file without pages, sheets or rows. */
export function placeOf(locator: Locator): string {
  const parts: string[] = [];
  if (locator.sheet !== undefined) parts.push(locator.sheet);
  if (locator.second !== undefined) parts.push(clock(locator.second));
  if (locator.slide !== undefined) parts.push(t.slide(locator.slide));
  else if ((locator.pages?.length ?? 0) > 1)
    parts.push(t.pageRange(locator.pages?.[0] ?? 0, locator.pages?.at(-1) ?? 0));
  else if (locator.page !== undefined) parts.push(t.pageNumber(locator.page));
  if (locator.row !== undefined)
    parts.push(
      locator.row_end && locator.row_end !== locator.row
        ? t.rowRange(locator.row, locator.row_end)
        : t.rowNumber(locator.row),
    );
  return parts.join(" · ");
}

export function itemOfElement(element: ExtractedElement): Item {
  return {
    id: element.id,
    kind: wordFor(t.elementType, element.type),
    tone: lookUp<Tone>(TONES, element.type) ?? "text",
    text: element.text,
    locator: element.locator,
    place: placeOf(element.locator),
    ...(element.confidence !== undefined &&
      element.confidence !== null && { note: t.coverageConfidence(formatPercent(element.confidence)) }),
    ...(element.grid && { grid: element.grid, headerRows: element.header_rows ?? 0 }),
    ...(element.blob && { blob: element.blob }),
    ...(element.level && { level: element.level }),
  };
}

export function itemOfChunk(chunk: Chunk): Item {
  const { locator } = chunk;
  return {
    id: chunk.id,
    kind: wordFor(t.chunkKind, chunk.type),
    tone: lookUp<Tone>(TONES, chunk.type) ?? "text",
    text: chunk.text,
    locator,
    place: placeOf(locator),
    note: t.tokens(chunk.token_count),
  };
}

/** One outline per item and page: the box around all its lines. Items without boxes have none. */
export function overlayOf(items: readonly Item[]): Overlay[] {
  return items.flatMap((item, index) => {
    const byPage = new Map<number, Overlay>();
    for (const box of item.locator.boxes ?? []) {
      const known = byPage.get(box.page);
      byPage.set(
        box.page,
        known
          ? {
              ...known,
              x0: Math.min(known.x0, box.x0),
              y0: Math.min(known.y0, box.y0),
              x1: Math.max(known.x1, box.x1),
              y1: Math.max(known.y1, box.y1),
            }
          : { ...box, tone: item.tone, label: `${index + 1}` },
      );
    }
    return [...byPage.values()];
  });
}
