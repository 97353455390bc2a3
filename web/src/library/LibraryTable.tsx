// The list of files as a table that stays fast with ten thousand rows: only those in sight are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import {
  type Dispatch,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SetStateAction,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Project, Resource } from "../api/client";
import { PHONE, useMedia } from "../lib/hooks";
import { t } from "../strings";
import { LibraryRow } from "./LibraryRow";
import { nextSort, type Sort, type SortKey } from "./rows";

interface LibraryTableProps {
  rows: readonly Resource[];
  projects: readonly Project[];
  sort: Sort;
  selected: ReadonlySet<string>;
  onSort: (sort: Sort) => void;
  onSelect: Dispatch<SetStateAction<ReadonlySet<string>>>;
  onDelete: (resource: Resource) => void;
}

const columns = (): readonly { key: SortKey; label: string; className: string }[] => [
  { key: "name", label: t.name, className: "cell-name" },
  { key: "status", label: t.statusColumn, className: "cell-status" },
  { key: "type", label: t.type, className: "cell-type" },
  { key: "size", label: t.size, className: "cell-size cell-figure" },
  { key: "pages", label: t.lengthColumn, className: "cell-pages cell-figure" },
  { key: "chunks", label: t.chunks, className: "cell-chunks cell-figure" },
  { key: "added", label: t.added, className: "cell-added" },
];

const ROW = 46;
const PHONE_ROW = 66;

export function LibraryTable({
  rows,
  projects,
  sort,
  selected,
  onSort,
  onSelect,
  onDelete,
}: LibraryTableProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useMedia(PHONE);
  const height = isPhone ? PHONE_ROW : ROW;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  });
  const { active, onKeyDown, setActive } = useRowKeys(rows.length, (index) => virtual.scrollToIndex(index), scroller);
  const measured = useRef(height);
  useEffect(() => {
    if (measured.current !== height) virtual.measure();
    measured.current = height;
  }, [virtual, height]);

  const projectNames = useMemo(() => new Map(projects.map((project) => [project.id, project.name])), [projects]);
  const toggle = useCallback(
    (id: string): void =>
      onSelect((present) => {
        const next = new Set(present);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [onSelect],
  );
  return (
    <div className="library-table" role="table" aria-label={t.library} aria-rowcount={rows.length + 1}>
      <TableHead rows={rows} sort={sort} selected={selected} onSort={onSort} onSelect={onSelect} />
      <div className="library-scroll" role="rowgroup" ref={scroller} onKeyDown={onKeyDown}>
        <div className="library-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const resource = rows[index];
            if (!resource) return null;
            return (
              <LibraryRow
                key={resource.id}
                resource={resource}
                index={index}
                top={start}
                height={height}
                projectNames={projectNames}
                isSelected={selected.has(resource.id)}
                isActive={index === active}
                onToggle={toggle}
                onFocus={setActive}
                onDelete={onDelete}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

type HeadProps = Pick<LibraryTableProps, "rows" | "sort" | "selected" | "onSort" | "onSelect">;

function TableHead({ rows, sort, selected, onSort, onSelect }: HeadProps): ReactNode {
  const shown = rows.filter(({ id }) => selected.has(id)).length;
  const all = shown === rows.length;
  const toggleAll = (): void => {
    const next = new Set(selected);
    for (const { id } of rows) {
      if (all) next.delete(id);
      else next.add(id);
    }
    onSelect(next);
  };
  return (
    <div role="rowgroup">
      <div className="library-row library-columns" role="row" aria-rowindex={1}>
        <div role="columnheader" className="library-check">
          <input
            type="checkbox"
            aria-label={t.selectAll}
            checked={all}
            ref={(box) => {
              if (box) box.indeterminate = shown > 0 && !all;
            }}
            onChange={toggleAll}
          />
        </div>
        {columns().map(({ key, label, className }) => (
          <ColumnHead key={key} label={label} className={className} name={key} sort={sort} onSort={onSort} />
        ))}
        <div role="columnheader" className="cell-project">
          {t.project}
        </div>
        <div role="columnheader" className="cell-menu">
          <span className="visually-hidden">{t.actions}</span>
        </div>
      </div>
    </div>
  );
}

interface ColumnHeadProps {
  name: SortKey;
  label: string;
  className: string;
  sort: Sort;
  onSort: (sort: Sort) => void;
}

function ColumnHead({ name, label, className, sort, onSort }: ColumnHeadProps): ReactNode {
  const isSorted = sort.key === name;
  const Arrow = sort.descending ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      className={className}
      aria-sort={isSorted ? (sort.descending ? "descending" : "ascending") : "none"}
    >
      <button
        type="button"
        className="column-button"
        title={t.sort(label)}
        onClick={() => onSort(nextSort(sort, name))}
      >
        {label}
        {isSorted && <Arrow size={13} aria-hidden />}
      </button>
    </div>
  );
}

/** Arrows, Home and End move the focus from row to row; only one row is in the tab order. */
function useRowKeys(count: number, show: (index: number) => void, scroller: RefObject<HTMLDivElement | null>) {
  const [active, setActive] = useState(0);
  const present = Math.min(active, Math.max(0, count - 1));
  const onKeyDown = (event: KeyboardEvent): void => {
    // A row's open menu is elsewhere on the page, and has arrows of its own.
    if (!event.currentTarget.contains(event.target as Node)) return;
    const target = { ArrowDown: present + 1, ArrowUp: present - 1, Home: 0, End: count - 1 }[event.key];
    if (target === undefined || target < 0 || target >= count) return;
    event.preventDefault();
    setActive(target);
    show(target);
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${target}"] a`)?.focus());
  };
  return { active: present, setActive, onKeyDown };
}
