// Names of a scope, for people.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { projectsQuery } from "../api/queries";
import { certainQuery } from "../api/resources";
import { filterLabel } from "../filters/filters";
import { t } from "../strings";
import { isEverything, type Scope } from "./scope";

const MOST_NAMED = 6;

/** What a scope is called: file names (or their number, where they are many), a project's name, or nothing for everything. */
export function useScopeNames(scope: Scope): string[] {
  const ids = scope.resource_ids ?? [];
  const isFew = ids.length <= MOST_NAMED;
  const resources = useQuery(certainQuery(isFew ? ids : []));
  const projects = useQuery({ ...projectsQuery(), enabled: Boolean(scope.project) });
  if (scope.project) return [projects.data?.find((project) => project.id === scope.project)?.name ?? t.project];
  if (!isFew) return [t.documents(ids.length)];
  return ids.map((id) => resources.data?.find((resource) => resource.id === id)?.filename ?? "…");
}

/** Said above a question that was narrowed. */
export function ScopeNote({ scope }: { scope: Scope }): ReactNode {
  const names = [...useScopeNames(scope), ...(scope.filters ?? []).map(filterLabel)];
  if (isEverything(scope)) return null;
  return (
    <p className="scope-note muted small">
      {t.scope} {names.join(", ")}
    </p>
  );
}
