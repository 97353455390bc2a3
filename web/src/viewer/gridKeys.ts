// The keyboard in a grid: which cell a key leads to, and how it gets the focus. Row 0 is the header and column 0 the row numbers;
// both can be reached, like every other cell.
import { defaultRangeExtractor, type Range } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";

/** Counted from 0: `aria-rowindex` and `aria-colindex` are one more. */
export interface CellPlace {
  row: number;
  column: number;
}

export interface GridShape {
  /** Header included. */
  rows: number;
  /** Row numbers included. */
  columns: number;
  /** How many rows PageUp and PageDown move by. */
  page: number;
}

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** The cell that a key moves the focus to; undefined where the key is not the grid's. */
export function cellAfter(from: CellPlace, press: Press, shape: GridShape): CellPlace | undefined {
  if (press.altKey || press.shiftKey) return undefined;
  const place = press.ctrlKey || press.metaKey ? toCorner(from, press.key, shape) : step(from, press.key, shape);
  return place && within(place, shape);
}

function step({ row, column }: CellPlace, key: string, { columns, page }: GridShape): CellPlace | undefined {
  switch (key) {
    case "ArrowUp":
      return { row: row - 1, column };
    case "ArrowDown":
      return { row: row + 1, column };
    case "ArrowLeft":
      return { row, column: column - 1 };
    case "ArrowRight":
      return { row, column: column + 1 };
    case "Home":
      return { row, column: 0 };
    case "End":
      return { row, column: columns - 1 };
    case "PageUp":
      return { row: row - page, column };
    case "PageDown":
      return { row: row + page, column };
    default:
      return undefined;
  }
}

function toCorner({ row, column }: CellPlace, key: string, { rows, columns }: GridShape): CellPlace | undefined {
  switch (key) {
    case "Home":
      return { row: 0, column: 0 };
    case "End":
      return { row: rows - 1, column: columns - 1 };
    case "ArrowUp":
      return { row: 0, column };
    case "ArrowDown":
      return { row: rows - 1, column };
    case "ArrowLeft":
      return { row, column: 0 };
    case "ArrowRight":
      return { row, column: columns - 1 };
    default:
      return undefined;
  }
}

/** The nearest cell that exists. */
export function within({ row, column }: CellPlace, { rows, columns }: Pick<GridShape, "rows" | "columns">): CellPlace {
  return { row: clamp(row, rows - 1), column: clamp(column, columns - 1) };
}

function clamp(value: number, last: number): number {
  return Math.max(0, Math.min(value, last));
}

/** Draws one item more than those in view: what holds the focus stays, however far one scrolls. */
export function useRangeWith(index: number, fixed = index): (range: Range) => number[] {
  return useCallback(
    (range: Range) => {
      const more = [index, fixed].filter((one) => one >= 0 && one < range.count);
      return [...new Set([...defaultRangeExtractor(range), ...more])].sort((a, b) => a - b);
    },
    [index, fixed],
  );
}

/** Which cell an element is, told by its ARIA indices. */
export function placeOf(element: Element): CellPlace | undefined {
  const column = element.getAttribute("aria-colindex");
  const row = element.parentElement?.getAttribute("aria-rowindex");
  return column && row ? { row: Number(row) - 1, column: Number(column) - 1 } : undefined;
}

/** Moves the focus to a cell, which is scrolled into view; it is drawn by then, because the active cell always is. */
export function useCellFocus(
  scroller: RefObject<HTMLDivElement | null>,
  active: CellPlace,
  setActive: (place: CellPlace) => void,
  reveal: (place: CellPlace) => void,
): (place: CellPlace) => void {
  const isMoving = useRef(false);
  useLayoutEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    scroller.current
      ?.querySelector<HTMLElement>(`[aria-rowindex="${active.row + 1}"] > [aria-colindex="${active.column + 1}"]`)
      ?.focus({ preventScroll: true });
  }, [scroller, active.row, active.column]);
  return (place) => {
    isMoving.current = place.row !== active.row || place.column !== active.column;
    setActive(place);
    reveal(place);
  };
}
