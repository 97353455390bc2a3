// Rows of a data file in a grid that draws only what is in view; the keyboard moves from cell to cell, and what is cited is marked: a cell in its row, or the row.
import { Tabs } from "@base-ui/react/tabs";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, type Resource, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { useDebounced } from "../lib/hooks";
import { t } from "../strings";
import { Failure } from "../ui/Notice";
import { GridHead, GridRow, NUMBER_WIDTH, ROW_HEIGHT, type Row } from "./GridRow";
import { type CellPlace, cellAfter, placeOf, useCellFocus, useRangeWith, within } from "./gridKeys";
import type { Target } from "./state";
import { type Column, columnAt, isRowOf, type Table, tableAt, tablesOf } from "./tables";

const OVERSCAN = 8;
const PAGE = 200;
const SETTLED_MS = 90;
// More than are ever shown at once.
const RECYCLED = 256;

export default function GridView({ resource, target }: { resource: Resource; target: Target }): ReactNode {
  const tables = tablesOf(resource);
  const cited = tableAt(tables, target.locator);
  const [chosen, setChosen] = useState<{ nonce: number; id: string } | null>(null);
  const table = tables.find((candidate) => chosen?.nonce === target.nonce && candidate.id === chosen.id) ?? cited;
  if (!table) return null;
  const targetOf = (one: Table): Target | undefined => (one === cited ? target : undefined);
  if (tables.length === 1)
    return (
      <div className="grid-view">
        <Grid resource={resource} table={table} target={targetOf(table)} />
      </div>
    );
  return (
    <Tabs.Root
      className="grid-view"
      value={table.id}
      onValueChange={(id: string) => setChosen({ nonce: target.nonce, id })}
    >
      {tables.map((one) => (
        // The grid inside takes the focus, so the panel does not.
        <Tabs.Panel key={one.id} value={one.id} className="grid-view" tabIndex={-1}>
          <Grid resource={resource} table={one} target={targetOf(one)} />
        </Tabs.Panel>
      ))}
      <Tabs.List className="grid-tabs" aria-label={t.sheet} activateOnFocus>
        {tables.map(({ id, name }) => (
          <Tabs.Tab key={id} value={id} className="grid-tab">
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs.Root>
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
function columnWidth(column: Column | undefined): number {
  if (!column) return 0;
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
  const shape = { rows: table.row_count + 1, columns: table.columns.length + 1 };
  const [chosen, setActive] = useState<CellPlace>({ row: 1, column: 1 });
  const active = within(chosen, shape);
  const rows = useVirtualizer({
    count: table.row_count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    paddingStart: ROW_HEIGHT,
    scrollPaddingStart: ROW_HEIGHT,
    rangeExtractor: useRangeWith(active.row - 1),
  });
  const columns = useVirtualizer({
    horizontal: true,
    count: table.columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => columnWidth(table.columns[index]),
    overscan: 3,
    paddingStart: NUMBER_WIDTH,
    // What names the rows is always there.
    scrollPaddingStart: NUMBER_WIDTH + columnWidth(table.columns[0]),
    paddingEnd: 16,
    rangeExtractor: useRangeWith(active.column - 1, 0),
  });
  const shownColumns = columns.getVirtualItems();
  const { startIndex = 0, endIndex = 0 } = rows.range ?? {};
  const { rowAt, failed } = useRows(resource, table, startIndex, endIndex, active.row - 1);
  const width = columns.getTotalSize();

  const reveal = ({ row, column }: CellPlace): void => {
    rows.scrollToIndex(Math.max(0, row - 1));
    columns.scrollToIndex(Math.max(0, column - 1));
  };
  const moveTo = useCellFocus(scroller, active, setActive, reveal);
  const citedColumn = columnAt(table, target?.locator);
  useGoToRow(resource, table, target, (index) => {
    setActive({ row: index + 1, column: (citedColumn ?? 0) + 1 });
    rows.scrollToIndex(index, { align: "center" });
    if (citedColumn !== undefined) columns.scrollToIndex(citedColumn);
  });
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const page = Math.max(1, Math.floor((event.currentTarget.clientHeight - ROW_HEIGHT) / ROW_HEIGHT));
    const next = cellAfter(active, event, { ...shape, page });
    if (!next) return;
    event.preventDefault();
    moveTo(next);
  };

  return (
    <>
      {failed && (
        <div className="viewer-note">
          <Failure error={failed.error} onRetry={failed.refetch} />
        </div>
      )}
      <div
        className="grid"
        ref={scroller}
        role="grid"
        aria-label={table.name}
        aria-readonly
        aria-rowcount={shape.rows}
        aria-colcount={shape.columns}
        onKeyDown={onKeyDown}
        onFocus={(event) => setActive((present) => placeOf(event.target) ?? present)}
      >
        <div className="grid-inner" role="rowgroup" style={{ width, height: rows.getTotalSize() }}>
          <GridHead
            table={table}
            columns={shownColumns}
            width={width}
            active={active.row === 0 ? active.column : undefined}
          />
          {rows.getVirtualItems().map(({ index, start }) => {
            const row = rowAt(index);
            return (
              <GridRow
                key={rowKey(index, active.row - 1)}
                index={index}
                top={start}
                width={width}
                row={row}
                table={table}
                columns={shownColumns}
                active={active.row === index + 1 ? active.column : undefined}
                isCited={row !== undefined && isRowOf(target?.locator, row.row)}
                citedColumn={citedColumn}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}

/** A row that scrolls out makes room for one that scrolls in: its cells are rewritten, not remade. The focused row keeps its own. */
function rowKey(index: number, focused: number): number {
  const key = index % RECYCLED;
  return index !== focused && key === focused % RECYCLED ? RECYCLED : key;
}

/** The rows around what is shown, page by page; while one scrolls past, nothing is asked for. */
function useRows(resource: Resource, table: Table, first: number, last: number, focused: number) {
  const pageOf = (index: number): number => Math.floor(index / PAGE);
  const lastPage = pageOf(Math.max(0, table.row_count - 1));
  const [firstShown, lastShown] = [pageOf(Math.max(0, first - OVERSCAN)), Math.min(pageOf(last + OVERSCAN), lastPage)];
  const settled = useDebounced(firstShown, SETTLED_MS);
  const isNear = Math.abs(settled - firstShown) <= 1;
  const pages = Array.from({ length: lastShown - firstShown + 1 }, (_, index) => firstShown + index);
  if (focused >= 0 && !pages.includes(pageOf(focused))) pages.push(pageOf(focused));
  const results = useQueries({
    queries: pages.map((page) => ({ ...pageQuery(resource, table, page), enabled: isNear })),
  });
  const failed = results.find((result) => result.isError);
  // The page that comes next, so that slow scrolling never meets an empty row.
  const next = Math.min(lastShown + 1, lastPage);
  useEffect(() => {
    if (isNear) void queryClient.prefetchQuery(pageQuery(resource, table, next));
  }, [isNear, next, resource, table]);
  return {
    rowAt: (index: number): Row | undefined => results[pages.indexOf(pageOf(index))]?.data?.rows[index % PAGE],
    failed: failed && { error: failed.error, refetch: () => void failed.refetch() },
  };
}

/** Goes to the cited row: the server knows how many rows come before it. */
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
