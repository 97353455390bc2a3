// The bar of filters on any field, and their place in the address.
import { ListFilterPlus, MessageSquareText } from "lucide-react";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { pendingScope } from "../chat/pending";
import { FilterChips } from "../filters/FilterChips";
import { FilterDialog } from "../filters/FilterDialog";
import { type Filter, filtersParameter, readFilters, withFilter } from "../filters/filters";
import { t } from "../strings";
import { Button } from "../ui/Button";

const NAME = "filters";

/** The filters that the address has, and what puts others there. */
export function useFilters(): [readonly Filter[], (filters: readonly Filter[]) => void] {
  const [parameters, setParameters] = useSearchParams();
  const text = parameters.get(NAME);
  const filters = useMemo(() => readFilters(text), [text]);
  const change = useCallback(
    (next: readonly Filter[]): void => {
      setParameters((present) => {
        const said = filtersParameter(next);
        if (said === null) present.delete(NAME);
        else present.set(NAME, said);
        return present;
      });
    },
    [setParameters],
  );
  return [filters, change];
}

interface LibraryFiltersProps {
  filters: readonly Filter[];
  /** How many files satisfy them; undefined while that is not known. */
  found: number | undefined;
  onFilters: (filters: readonly Filter[]) => void;
}

export function LibraryFilters({ filters, found, onFilters }: LibraryFiltersProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [, navigate] = useLocation();
  const ask = (): void => {
    pendingScope.set({ filters: [...filters] });
    navigate("/");
  };
  return (
    <div className="filter-bar" role="group" aria-label={t.filters}>
      <Button small onClick={() => setOpen(true)}>
        <ListFilterPlus size={15} aria-hidden />
        {t.addFilter}
      </Button>
      <FilterChips filters={filters} onFilters={onFilters} />
      {filters.length > 0 && (
        <>
          <span className="muted small" role="status">
            {found !== undefined && t.filterFound(found)}
          </span>
          {found !== undefined && found > 0 && (
            <Button small kind="quiet" onClick={ask}>
              <MessageSquareText size={15} aria-hidden />
              {t.filterAsk}
            </Button>
          )}
        </>
      )}
      <FilterDialog
        open={isOpen}
        present={filters}
        onAdd={(filter) => onFilters(withFilter(filters, filter))}
        onClose={() => setOpen(false)}
      />
    </div>
  );
}
