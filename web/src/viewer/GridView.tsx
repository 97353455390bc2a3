// Rows of a data file in a grid that holds only what is seen; the cited row is marked.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type Resource, type Schemas, api, unwrap } from "../api/client";
import { formatNumber, formatPrecise } from "../lib/format";
import { t } from "../strings";
import { Failure } from "../ui/Notice";
import type { Target } from "./SourceView";
import { type Column, type Table, tableAt, tablesOf } from "./tables";

const ROW = 30;
const PAGE = 200;
const NUMBER_WIDTH = 64;
const NUMERIC = new Set(["integer", "number"]);

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
          params: { path: { resource_id: resource.id, table_id: table.id }, query: { offset: page * PAGE, limit: PAGE } },
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
  const rows = useVirtualizer({ count: table.row_count, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 12, paddingStart: ROW });
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
  const pages = [...new Set(shown.map((item) => Math.floor(item.index / PAGE)))];
  const results = useQueries({ queries: pages.map((page) => pageQuery(resource, table, page)) });
  const byPage = new Map(pages.map((page, index) => [page, results[index]?.data]));
  const failed = results.find((result) => result.isError);
  const width = columns.getTotalSize();
  useGoToRow(resource, table, target, (index) => rows.scrollToIndex(index, { align: "center" }));

  const { row: firstCited, row_end: lastCited } = target?.locator ?? {};
  const isCited = (number: number): boolean => firstCited !== undefined && number >= firstCited && number <= (lastCited ?? firstCited);
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
        <div className="grid-row grid-head" role="row" aria-rowindex={1} style={{ width, height: ROW }}>
          <div className="grid-number" role="columnheader" aria-colindex={1} style={{ width: NUMBER_WIDTH }}>
            <span className="visually-hidden">{t.row}</span>
          </div>
          {columns.getVirtualItems().map((item) => (
            <div
              key={item.key}
              role="columnheader"
              aria-colindex={item.index + 2}
              className={NUMERIC.has(table.columns[item.index]?.dtype ?? "") ? "grid-cell grid-figure" : "grid-cell"}
              style={{ left: item.start, width: item.size }}
              title={table.columns[item.index]?.name}
            >
              {table.columns[item.index]?.name}
            </div>
          ))}
        </div>
        {shown.map((item) => {
          const row = byPage.get(Math.floor(item.index / PAGE))?.rows[item.index % PAGE];
          return (
            <div
              key={item.key}
              role="row"
              aria-rowindex={item.index + 2}
              className="grid-row"
              data-marked={(row && isCited(row.row)) || undefined}
              style={{ width, height: ROW, transform: `translateY(${item.start}px)` }}
            >
              <div className="grid-number tabular" role="rowheader" aria-colindex={1} style={{ width: NUMBER_WIDTH }}>
                {row ? formatNumber(row.row) : ""}
              </div>
              {columns.getVirtualItems().map((column) => (
                <Cell key={column.key} index={column.index} left={column.start} width={column.size} row={row} column={table.columns[column.index]} />
              ))}
            </div>
          );
        })}
      </div>
      {failed && <Failure error={failed.error} onRetry={() => void failed.refetch()} />}
    </div>
  );
}

interface CellProps {
  index: number;
  left: number;
  width: number;
  row: Schemas["RowOut"] | undefined;
  column: Column | undefined;
}

function Cell({ index, left, width, row, column }: CellProps): ReactNode {
  const value = row?.cells[index];
  const isNumber = typeof value === "number";
  const isFigure = isNumber && NUMERIC.has(column?.dtype ?? "");
  const text = value === null || value === undefined ? "" : isNumber ? formatPrecise(value) : String(value);
  return (
    <div role="gridcell" aria-colindex={index + 2} className={isFigure ? "grid-cell grid-figure" : "grid-cell"} style={{ left, width }} title={text}>
      {row ? text : <span className="skeleton grid-wait" />}
    </div>
  );
}

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
