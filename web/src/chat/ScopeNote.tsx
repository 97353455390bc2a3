// Names of a scope, for people.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { projectsQuery } from "../api/queries";
import { certainQuery } from "../api/resources";
import { presentWorkspace, type WorkspaceId } from "../api/workspace";
import { filterLabel } from "../filters/filters";
import { t } from "../strings";
import { find, useShared } from "../workspace/workspaces";
import { isEverything, type Scope, within } from "./scope";

const MOST_NAMED = 6;

/** What a scope is called: file names (or their number, where they are many), a project's name, or nothing for everything. */
export function useScopeNames(scope: Scope, workspace: WorkspaceId): string[] {
  const ids = scope.resource_ids ?? [];
  const isFew = ids.length <= MOST_NAMED;
  const resources = useQuery(certainQuery(isFew ? ids : [], workspace));
  const projects = useQuery({ ...projectsQuery(workspace), enabled: Boolean(scope.project) });
  if (scope.project) return [projects.data?.find((project) => project.id === scope.project)?.name ?? t.project];
  if (!isFew) return [t.documents(ids.length)];
  const gone = resources.data ? t.deletedFile : "…";
  return ids.map((id) => resources.data?.find((resource) => resource.id === id)?.filename ?? gone);
}

/** Said above a question that was narrowed, or was about other files than those that are shown. */
export function ScopeNote({ scope: asked }: { scope: Scope }): ReactNode {
  const shared = useShared();
  const { workspace, scope } = within(asked, (id) => find(shared, id) !== null);
  const elsewhere = workspace === presentWorkspace() ? null : find(shared, workspace);
  const narrowed = [...useScopeNames(scope, workspace), ...(scope.filters ?? []).map(filterLabel)];
  const names = elsewhere ? [...narrowed, elsewhere.name] : narrowed;
  if (isEverything(scope) && !elsewhere) return null;
  return (
    <p className="scope-note muted small">
      {t.scope} {names.join(", ")}
    </p>
  );
}
