// All files: found by name, state, type and project, sorted by any column, several of them handled at once.
import { useQuery } from "@tanstack/react-query";
import { FilePlus2, FolderSearch, LibraryBig } from "lucide-react";
import { type ReactNode, useCallback, useDeferredValue, useMemo, useState } from "react";
import type { Project, Resource } from "../api/client";
import { projectsQuery } from "../api/queries";
import { matchingQuery, useResources } from "../api/resources";
import { filtersParameter } from "../filters/filters";
import { useTitle } from "../lib/hooks";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Empty, Failure, Loading } from "../ui/Notice";
import { openUploadDialog } from "../upload/uploads";
import { useWorkspace } from "../workspace/workspaces";
import { DeleteFiles } from "./DeleteFiles";
import { LibraryFilters, useFilters } from "./LibraryFilters";
import { LibraryTable } from "./LibraryTable";
import { LibraryToolbar } from "./LibraryToolbar";
import { SelectionBar } from "./SelectionBar";
import "./library.css";
import { type Filters, filterRows, NEWEST_FIRST, NO_FILTERS, type Sort, sortRows } from "./rows";

const NOTHING: ReadonlySet<string> = new Set();
const NO_PROJECTS: readonly Project[] = [];

export default function LibraryScreen(): ReactNode {
  const resources = useResources();
  const { project, mayAdd } = useWorkspace();
  useTitle(t.library);
  return (
    <main className="screen library">
      <header className="screen-head library-head">
        <div>
          <h1>{t.library}</h1>
          <p className="muted small" aria-live="polite">
            {resources.data && (project ? t.libraryTextIn(project.name) : t.libraryText)(resources.data.length)}
          </p>
        </div>
        {mayAdd && (
          <Button kind="primary" onClick={() => openUploadDialog()}>
            <FilePlus2 size={17} aria-hidden />
            {t.addFiles}
          </Button>
        )}
      </header>
      {resources.isPending && <Loading lines={10} />}
      {resources.isError && <Failure error={resources.error} onRetry={() => void resources.refetch()} />}
      {resources.data && (resources.data.length ? <Files resources={resources.data} /> : <NoFiles />)}
    </main>
  );
}

function NoFiles(): ReactNode {
  const { project, mayAdd } = useWorkspace();
  const textIn = mayAdd ? t.emptyProjectAdd : t.emptyProjectView;
  return (
    <Empty icon={<LibraryBig size={42} aria-hidden />} title={t.libraryEmptyTitle}>
      <p>{project ? textIn(project.name) : t.libraryEmptyText}</p>
    </Empty>
  );
}

function Files({ resources }: { resources: readonly Resource[] }): ReactNode {
  const projects = useQuery(projectsQuery()).data ?? NO_PROJECTS;
  const [filters, setFilters] = useState<Filters>(NO_FILTERS);
  const [sort, setSort] = useState<Sort>(NEWEST_FIRST);
  const [selected, setSelected] = useState<ReadonlySet<string>>(NOTHING);
  const [leaving, setLeaving] = useState<readonly Resource[] | null>(null);
  // Typing and sorting show at once; the list follows when it has the time.
  const settled = useDeferredValue(filters);
  const order = useDeferredValue(sort);
  const [asked, setAsked] = useFilters();
  const said = filtersParameter(asked);
  const matching = useQuery({ ...matchingQuery(said ?? ""), enabled: said !== null });
  const within = useMemo(
    () => (said === null ? resources : resources.filter(({ id }) => matching.data?.has(id))),
    [resources, said, matching.data],
  );
  const rows = useMemo(() => sortRows(filterRows(within, settled), order), [within, settled, order]);
  const chosen = useMemo(() => resources.filter(({ id }) => selected.has(id)), [resources, selected]);
  const deleteOne = useCallback((resource: Resource) => setLeaving([resource]), []);
  return (
    <>
      <LibraryToolbar
        resources={within}
        projects={projects}
        filters={filters}
        sort={sort}
        onFilters={setFilters}
        onSort={setSort}
      />
      <LibraryFilters filters={asked} found={matching.data && within.length} onFilters={setAsked} />
      {chosen.length > 0 && (
        <SelectionBar chosen={chosen} onDelete={() => setLeaving(chosen)} onClear={() => setSelected(NOTHING)} />
      )}
      {said !== null && matching.isError ? (
        <Failure error={matching.error} onRetry={() => void matching.refetch()} />
      ) : said !== null && matching.isPending ? (
        <Loading lines={6} />
      ) : rows.length ? (
        <LibraryTable
          rows={rows}
          projects={projects}
          sort={sort}
          selected={selected}
          onSort={setSort}
          onSelect={setSelected}
          onDelete={deleteOne}
        />
      ) : (
        <Empty icon={<FolderSearch size={38} aria-hidden />} title={t.nothingFound}>
          <Button
            small
            onClick={() => {
              setFilters(NO_FILTERS);
              setAsked([]);
            }}
          >
            {t.clearFilters}
          </Button>
        </Empty>
      )}
      <DeleteFiles files={leaving} onClose={() => setLeaving(null)} onDeleted={() => setSelected(NOTHING)} />
    </>
  );
}
