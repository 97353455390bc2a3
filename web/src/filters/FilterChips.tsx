// Filters as chips that can be taken off.
import { Filter as FilterIcon, X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../strings";
import { type Filter, filterLabel, without } from "./filters";

interface FilterChipsProps {
  filters: readonly Filter[];
  onFilters: (filters: Filter[]) => void;
}

export function FilterChips({ filters, onFilters }: FilterChipsProps): ReactNode {
  return filters.map((filter) => {
    const label = filterLabel(filter);
    return (
      <span key={JSON.stringify(filter)} className="removable-chip">
        <FilterIcon size={12} aria-hidden />
        <span className="truncate">{label}</span>
        <button type="button" aria-label={t.filterRemove(label)} onClick={() => onFilters(without(filters, filter))}>
          <X size={13} aria-hidden />
        </button>
      </span>
    );
  });
}
