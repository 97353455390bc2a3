// The columns of a data file: what they hold, how much is missing, how the values are spread.
import { Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Resource } from "../api/client";
import { formatNumber, formatPrecisePercent } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Notice";
import { openViewer } from "../viewer/state";
import { tablesOf } from "../viewer/tables";
import { type ColumnFacts, statistic, type TableFacts } from "./columns";
import { Histogram } from "./Histogram";

export function Columns({ resource }: { resource: Resource }): ReactNode {
  const tables: TableFacts[] = tablesOf(resource);
  const [chosen, setChosen] = useState(0);
  const table = tables[Math.min(chosen, tables.length - 1)];
  if (!table) return <Empty title={t.noColumns} />;
  const show = (): void =>
    openViewer({
      resourceId: resource.id,
      filename: resource.filename,
      locator: table.sheet ? { sheet: table.sheet } : {},
    });
  return (
    <div className="stack">
      <div className="columns-head">
        {tables.length > 1 && (
          <label>
            <span className="visually-hidden">{t.tableName}</span>
            <select className="select" value={chosen} onChange={(event) => setChosen(Number(event.target.value))}>
              {tables.map(({ id, name, sheet }, index) => (
                <option key={id} value={index}>
                  {sheet && sheet !== name ? `${sheet}: ${name}` : name}
                </option>
              ))}
            </select>
          </label>
        )}
        <span className="muted">
          {t.rows(table.row_count)} · {t.columnsCount(table.columns.length)}
        </span>
        <span className="grow" />
        <Button small onClick={show}>
          <Table2 size={15} aria-hidden />
          {t.showRows}
        </Button>
      </div>
      <ul className="columns-list" aria-label={t.columns}>
        {table.columns.map((column) => (
          <ColumnCard key={column.name} resource={resource} table={table} column={column} />
        ))}
      </ul>
    </div>
  );
}

function ColumnCard({
  resource,
  table,
  column,
}: {
  resource: Resource;
  table: TableFacts;
  column: ColumnFacts;
}): ReactNode {
  const filled = table.row_count ? 1 - (column.nulls ?? 0) / table.row_count : 0;
  const distinct = column.distinct ?? column.distinct_about;
  return (
    <li className="card column-card">
      <div className="spread">
        <strong className="truncate" title={column.name}>
          {column.name}
        </strong>
        <span className="tag">{column.unit ? `${column.dtype}, ${column.unit}` : column.dtype}</span>
      </div>
      <Histogram resourceId={resource.id} version={resource.version} table={table.id} column={column} />
      <dl className="column-facts small">
        <Fact
          name={t.distinctValues}
          value={distinct === undefined ? "–" : `${column.distinct === undefined ? "≈ " : ""}${formatNumber(distinct)}`}
        />
        <Fact name={t.filledCells} value={formatPrecisePercent(filled)} />
        {column.mean !== undefined && <Fact name={t.mean} value={statistic(column.mean)} />}
        {column.sum !== undefined && <Fact name={t.sum} value={statistic(column.sum)} />}
        {column.mean === undefined && column.min !== undefined && column.min !== null && (
          <Fact wide name={t.rangeOf} value={`${statistic(column.min)} – ${statistic(column.max)}`} />
        )}
      </dl>
    </li>
  );
}

function Fact({ name, value, wide = false }: { name: string; value: string; wide?: boolean }): ReactNode {
  return (
    <div className={wide ? "fact-wide" : undefined}>
      <dt className="muted">{name}</dt>
      <dd className="tabular truncate" title={value}>
        {value}
      </dd>
    </div>
  );
}
