// Names of a scope, for people.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { projectsQuery, resourcesQuery } from "../api/queries";
import { t } from "../strings";
import { type Scope, isEverything } from "./scope";

/** What a scope is called: file names, a project's name, or nothing for everything. */
export function useScopeNames(scope: Scope): string[] {
  const resources = useQuery({ ...resourcesQuery(), enabled: Boolean(scope.resource_ids?.length) });
  const projects = useQuery({ ...projectsQuery(), enabled: Boolean(scope.project) });
  if (scope.project) return [projects.data?.find((project) => project.id === scope.project)?.name ?? t.project];
  return (scope.resource_ids ?? []).map((id) => resources.data?.find((resource) => resource.id === id)?.filename ?? "…");
}

/** Said above a question that was narrowed. */
export function ScopeNote({ scope }: { scope: Scope }): ReactNode {
  const names = useScopeNames(scope);
  if (isEverything(scope)) return null;
  return (
    <p className="scope-note muted small">
      {t.scope} {names.join(", ")}
    </p>
  );
}
