// Which cell of a grid a key leads to. Row 0 is the header and column 0 the row numbers; both can be reached, as every cell can.

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
