// The header and the rows of a grid, with the cells that are in view.
import type { VirtualItem } from "@tanstack/react-virtual";
import { memo, type ReactNode } from "react";
import type { Schemas } from "../api/client";
import { formatNumber, formatPrecise } from "../lib/format";
import { t } from "../strings";
import { type Column, isYears, type Table } from "./tables";

export type Row = Schemas["RowOut"];

export const ROW_HEIGHT = 30;
export const NUMBER_WIDTH = 64;
const NUMERIC = new Set(["integer", "number"]);

interface GridHeadProps {
  table: Table;
  columns: VirtualItem[];
  width: number;
  /** The column that is in the tab order, where it is this row's. */
  active: number | undefined;
}

export function GridHead({ table, columns, width, active }: GridHeadProps): ReactNode {
  return (
    <div className="grid-row grid-head" role="row" aria-rowindex={1} style={{ width, height: ROW_HEIGHT }}>
      <div
        className="grid-number"
        role="columnheader"
        aria-colindex={1}
        tabIndex={tabIndex(active === 0)}
        style={{ width: NUMBER_WIDTH }}
      >
        <span className="visually-hidden">{t.row}</span>
      </div>
      {columns.map(({ key, index, start, size }) => (
        <div
          key={key}
          role="columnheader"
          aria-colindex={index + 2}
          tabIndex={tabIndex(active === index + 1)}
          className={NUMERIC.has(table.columns[index]?.dtype ?? "") ? "grid-cell grid-figure" : "grid-cell"}
          data-names={index === 0 || undefined}
          style={{ left: start, width: size }}
          title={table.columns[index]?.name}
        >
          {table.columns[index]?.name}
        </div>
      ))}
    </div>
  );
}

const tabIndex = (isActive: boolean): 0 | -1 => (isActive ? 0 : -1);

interface GridRowProps extends GridHeadProps {
  index: number;
  top: number;
  row: Row | undefined;
  isCited: boolean;
  /** The column of the cited cell, where one cell is cited and not the whole row. */
  citedColumn: number | undefined;
}

export const GridRow = memo(function GridRow(props: GridRowProps): ReactNode {
  const { index, top, width, row, table, columns, active, isCited, citedColumn } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="grid-row"
      data-marked={isCited || undefined}
      style={{ width, height: ROW_HEIGHT, transform: `translateY(${top}px)` }}
    >
      <div
        className="grid-number tabular"
        role="rowheader"
        aria-colindex={1}
        tabIndex={tabIndex(active === 0)}
        style={{ width: NUMBER_WIDTH }}
      >
        {row ? formatNumber(row.row) : ""}
      </div>
      {columns.map((column) => (
        <Cell
          key={column.key}
          index={column.index}
          left={column.start}
          width={column.size}
          isThere={row !== undefined}
          isActive={active === column.index + 1}
          isCited={isCited && citedColumn === column.index}
          value={row?.cells[column.index]}
          kind={kindOf(table.columns[column.index])}
        />
      ))}
    </div>
  );
});

type CellKind = "text" | "number" | "year";

function kindOf(column: Column | undefined): CellKind {
  if (!column || !NUMERIC.has(column.dtype)) return "text";
  return isYears(column) ? "year" : "number";
}

interface CellProps {
  index: number;
  left: number;
  width: number;
  isThere: boolean;
  isActive: boolean;
  isCited: boolean;
  value: unknown;
  kind: CellKind;
}

const Cell = memo(function Cell(props: CellProps): ReactNode {
  const { index, left, width, isThere, isActive, isCited, value, kind } = props;
  const isNumber = typeof value === "number";
  const isGrouped = isNumber && kind !== "year";
  const text = value === null || value === undefined ? "" : isGrouped ? formatPrecise(value) : String(value);
  return (
    <div
      role="gridcell"
      aria-colindex={index + 2}
      tabIndex={tabIndex(isActive)}
      className={isNumber && kind !== "text" ? "grid-cell grid-figure" : isThere ? "grid-cell" : "grid-cell grid-wait"}
      data-cited={isCited || undefined}
      data-names={index === 0 || undefined}
      style={{ left, width }}
      title={text || undefined}
    >
      {text}
    </div>
  );
});
