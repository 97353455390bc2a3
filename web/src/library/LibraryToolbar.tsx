// Search, filters, and (on phones, where there are no column heads) the order.
import { Search } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import type { Project, Resource } from "../api/client";
import { oneOf } from "../api/codes";
import { formatNumber } from "../lib/format";
import { t } from "../strings";
import { countGroups, type Filters, firstSort, type Group, SORT_KEYS, type Sort, typesOf } from "./rows";

interface LibraryToolbarProps {
  resources: readonly Resource[];
  projects: readonly Project[];
  filters: Filters;
  sort: Sort;
  onFilters: (filters: Filters) => void;
  onSort: (sort: Sort) => void;
}

const GROUPS: readonly Group[] = ["ready", "busy", "attention", "stored"];

export function LibraryToolbar({
  resources,
  projects,
  filters,
  sort,
  onFilters,
  onSort,
}: LibraryToolbarProps): ReactNode {
  const counts = useMemo(() => countGroups(resources), [resources]);
  const types = useMemo(
    () => typesOf(resources).map((type): [string, string] => [type, type.toUpperCase()]),
    [resources],
  );
  const change = (part: Partial<Filters>): void => onFilters({ ...filters, ...part });
  return (
    <div className="library-tools" role="search">
      <label className="search-field library-search">
        <span className="visually-hidden">{t.searchLibrary}</span>
        <Search size={16} aria-hidden />
        <input
          className="input"
          type="search"
          placeholder={t.searchLibrary}
          value={filters.text}
          onChange={(event) => change({ text: event.target.value })}
        />
      </label>
      <div className="library-groups" role="group" aria-label={t.statusColumn}>
        {GROUPS.filter((group) => counts[group] > 0 || filters.group === group).map((group) => (
          <button
            key={group}
            type="button"
            className="pill"
            aria-pressed={filters.group === group}
            onClick={() => change({ group: filters.group === group ? "" : group })}
          >
            <span className="pill-dot" data-group={group} aria-hidden />
            {t.libraryGroup[group]}
            <span className="pill-count tabular">{formatNumber(counts[group])}</span>
          </button>
        ))}
      </div>
      <Select
        label={t.type}
        value={filters.type}
        all={t.allTypes}
        options={types}
        onChange={(type) => change({ type })}
      />
      {projects.length > 1 && (
        <Select
          label={t.project}
          value={filters.project}
          all={t.allProjects}
          options={projects.map((project) => [project.id, project.name])}
          onChange={(project) => change({ project })}
        />
      )}
      <label className="library-order">
        <span className="visually-hidden">{t.sortBy}</span>
        <select
          className="select library-select"
          value={sort.key}
          onChange={(event) => onSort(firstSort(oneOf(SORT_KEYS, event.target.value) ?? sort.key))}
        >
          {SORT_KEYS.map((key) => (
            <option key={key} value={key}>
              {t.librarySort[key]}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  all: string;
  options: [string, string][];
  onChange: (value: string) => void;
}

function Select({ label, value, all, options, onChange }: SelectProps): ReactNode {
  return (
    <label>
      <span className="visually-hidden">{label}</span>
      <select className="select library-select" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{all}</option>
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
