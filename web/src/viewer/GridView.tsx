// Rows of a data file in a grid that holds only what is seen; the cited row is marked.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { api, type Resource, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { formatNumber, formatPrecise } from "../lib/format";
import { useDebounced } from "../lib/hooks";
import { t } from "../strings";
import { Failure } from "../ui/Notice";
import type { Target } from "./state";
import { type Column, type Table, tableAt, tablesOf } from "./tables";

const ROW = 30;
const PAGE = 200;
const SETTLED_MS = 90;
// More than are ever shown at once.
const RECYCLED = 256;
const NUMBER_WIDTH = 64;
const NUMERIC = new Set(["integer", "number"]);

type Row = Schemas["RowOut"];

export default function GridView({ resource, target }: { resource: Resource; target: Target }): ReactNode {
  const tables = tablesOf(resource);
  const cited = tableAt(tables, target.locator);
  const [chosen, setChosen] = useState<{ nonce: number; id: string } | null>(null);
  const table = tables.find((candidate) => chosen?.nonce === target.nonce && candidate.id === chosen.id) ?? cited;
  if (!table) return null;
  return (
    <div className="grid-view">
      <Grid key={table.id} resource={resource} table={table} target={table === cited ? target : undefined} />
      {tables.length > 1 && (
        <div className="grid-tabs" role="tablist" aria-label={t.sheet}>
          {tables.map((candidate) => (
            <button
              key={candidate.id}
              type="button"
              role="tab"
              aria-selected={candidate === table}
              onClick={() => setChosen({ nonce: target.nonce, id: candidate.id })}
            >
              {candidate.name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function pageQuery(resource: Resource, table: Table, page: number) {
  return {
    queryKey: ["rows", resource.id, resource.version, table.id, page],
    queryFn: () =>
      unwrap(
        api.GET("/resources/{resource_id}/tables/{table_id}/rows", {
          params: {
            path: { resource_id: resource.id, table_id: table.id },
            query: { offset: page * PAGE, limit: PAGE },
          },
        }),
      ),
    staleTime: Infinity,
  };
}

/** Wide enough for its name and for what was seen of its values. */
function columnWidth(column: Column): number {
  const samples = (column.samples ?? []).map((value) => String(value).length);
  const letters = Math.max(column.name.length + 2, ...samples, 6);
  return Math.min(Math.max(letters * 7.6 + 26, 80), 320);
}

interface GridProps {
  resource: Resource;
  table: Table;
  target: Target | undefined;
}

function Grid({ resource, table, target }: GridProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: table.row_count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
    paddingStart: ROW,
  });
  const columns = useVirtualizer({
    horizontal: true,
    count: table.columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => columnWidth(table.columns[index] as Column),
    overscan: 3,
    paddingStart: NUMBER_WIDTH,
    paddingEnd: 16,
  });
  const shown = rows.getVirtualItems();
  const shownColumns = columns.getVirtualItems();
  const { rowAt, failed } = useRows(resource, table, shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0);
  const width = columns.getTotalSize();
  useGoToRow(resource, table, target, (index) => rows.scrollToIndex(index, { align: "center" }));

  const { row: firstCited, row_end: lastCited } = target?.locator ?? {};
  const isCited = (number: number): boolean =>
    firstCited !== undefined && number >= firstCited && number <= (lastCited ?? firstCited);
  return (
    <div
      className="grid"
      ref={scroller}
      tabIndex={0}
      role="grid"
      aria-label={table.name}
      aria-rowcount={table.row_count + 1}
      aria-colcount={table.columns.length + 1}
    >
      <div className="grid-inner" role="rowgroup" style={{ width, height: rows.getTotalSize() }}>
        <GridHead table={table} columns={shownColumns} width={width} />
        {shown.map(({ index, start }) => {
          const row = rowAt(index);
          return (
            <GridRow
              // A row that scrolls out makes room for one that scrolls in: its cells are written anew, not made anew.
              key={index % RECYCLED}
              index={index}
              top={start}
              width={width}
              row={row}
              table={table}
              columns={shownColumns}
              isCited={row !== undefined && isCited(row.row)}
            />
          );
        })}
      </div>
      {failed && <Failure error={failed.error} onRetry={failed.refetch} />}
    </div>
  );
}

/** The rows around what is shown, page by page; while one scrolls past, nothing is asked for. */
function useRows(resource: Resource, table: Table, first: number, last: number) {
  const firstPage = Math.floor(first / PAGE);
  const lastPage = Math.floor(last / PAGE);
  const settled = useDebounced(firstPage, SETTLED_MS);
  const pages = Array.from({ length: lastPage - firstPage + 1 }, (_, index) => firstPage + index);
  const isNear = Math.abs(settled - firstPage) <= 1;
  const results = useQueries({
    queries: pages.map((page) => ({ ...pageQuery(resource, table, page), enabled: isNear })),
  });
  const failed = results.find((result) => result.isError);
  // The page that comes next, so that slow scrolling never meets an empty row.
  const next = Math.min(lastPage + 1, Math.floor((table.row_count - 1) / PAGE));
  useEffect(() => {
    if (isNear) void queryClient.prefetchQuery(pageQuery(resource, table, next));
  }, [isNear, next, resource, table]);
  return {
    rowAt: (index: number): Row | undefined => results[Math.floor(index / PAGE) - firstPage]?.data?.rows[index % PAGE],
    failed: failed && { error: failed.error, refetch: () => void failed.refetch() },
  };
}

function GridHead({ table, columns, width }: { table: Table; columns: VirtualItem[]; width: number }): ReactNode {
  return (
    <div className="grid-row grid-head" role="row" aria-rowindex={1} style={{ width, height: ROW }}>
      <div className="grid-number" role="columnheader" aria-colindex={1} style={{ width: NUMBER_WIDTH }}>
        <span className="visually-hidden">{t.row}</span>
      </div>
      {columns.map(({ key, index, start, size }) => (
        <div
          key={key}
          role="columnheader"
          aria-colindex={index + 2}
          className={NUMERIC.has(table.columns[index]?.dtype ?? "") ? "grid-cell grid-figure" : "grid-cell"}
          style={{ left: start, width: size }}
          title={table.columns[index]?.name}
        >
          {table.columns[index]?.name}
        </div>
      ))}
    </div>
  );
}

interface GridRowProps {
  index: number;
  top: number;
  width: number;
  row: Row | undefined;
  table: Table;
  columns: VirtualItem[];
  isCited: boolean;
}

const GridRow = memo(function GridRow({ index, top, width, row, table, columns, isCited }: GridRowProps): ReactNode {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="grid-row"
      data-marked={isCited || undefined}
      style={{ width, height: ROW, transform: `translateY(${top}px)` }}
    >
      <div className="grid-number tabular" role="rowheader" aria-colindex={1} style={{ width: NUMBER_WIDTH }}>
        {row ? formatNumber(row.row) : ""}
      </div>
      {columns.map((column) => (
        <Cell
          key={column.key}
          index={column.index}
          left={column.start}
          width={column.size}
          isThere={row !== undefined}
          value={row?.cells[column.index]}
          isNumeric={NUMERIC.has(table.columns[column.index]?.dtype ?? "")}
        />
      ))}
    </div>
  );
});

interface CellProps {
  index: number;
  left: number;
  width: number;
  isThere: boolean;
  value: unknown;
  isNumeric: boolean;
}

const Cell = memo(function Cell({ index, left, width, isThere, value, isNumeric }: CellProps): ReactNode {
  const isNumber = typeof value === "number";
  const text = value === null || value === undefined ? "" : isNumber ? formatPrecise(value) : String(value);
  return (
    <div
      role="gridcell"
      aria-colindex={index + 2}
      className={isNumber && isNumeric ? "grid-cell grid-figure" : isThere ? "grid-cell" : "grid-cell grid-wait"}
      style={{ left, width }}
      title={text || undefined}
    >
      {text}
    </div>
  );
});

/** Scroll to the cited row: the server knows how many rows stand before it. */
function useGoToRow(resource: Resource, table: Table, target: Target | undefined, goTo: (index: number) => void): void {
  const row = target?.locator?.row;
  const place = useQuery({
    queryKey: ["row place", resource.id, resource.version, table.id, row],
    queryFn: () =>
      unwrap(
        api.GET("/resources/{resource_id}/tables/{table_id}/rows", {
          params: { path: { resource_id: resource.id, table_id: table.id }, query: { row: row ?? null, limit: 1 } },
        }),
      ),
    enabled: row !== undefined,
    staleTime: Infinity,
  });
  const offset = place.data?.offset;
  const gone = useRef(0);
  useEffect(() => {
    if (offset === undefined || !target || gone.current === target.nonce) return;
    gone.current = target.nonce;
    goTo(offset);
  }, [offset, target, goTo]);
}
