// What a question may draw on: everything, tagged documents, or a project.
import type { Message, Schemas } from "../api/client";
import type { WorkspaceId } from "../api/workspace";
import { type Filter, filtersOf } from "../filters/filters";

export type Scope = Omit<Schemas["ScopeOut"], "filters"> & { filters?: Filter[] };

export const EVERYTHING: Scope = {};

export function isEverything(scope: Scope): boolean {
  return !scope.project && !scope.resource_ids?.length && !scope.filters?.length;
}

/** The scope with a document added; a tagged document takes the place of a project. */
export function withDocument(scope: Scope, id: string): Scope {
  const present = scope.resource_ids ?? [];
  return withFilters({ resource_ids: present.includes(id) ? present : [...present, id] }, scope.filters ?? []);
}

export function withoutDocument(scope: Scope, id: string): Scope {
  const left = (scope.resource_ids ?? []).filter((present) => present !== id);
  return withFilters(left.length ? { resource_ids: left } : EVERYTHING, scope.filters ?? []);
}

/** The scope with these filters in place of those that it had. */
export function withFilters({ filters: _, ...rest }: Scope, filters: Filter[]): Scope {
  return filters.length ? { ...rest, filters } : rest;
}

/** A scope as the server keeps it, which knows another owner's project only as a project, as a workspace and what is meant within it. */
export function within(scope: Scope, isShared: (project: string) => boolean): { workspace: WorkspaceId; scope: Scope } {
  const { project, ...rest } = scope;
  return project !== undefined && isShared(project) ? { workspace: project, scope: rest } : { workspace: null, scope };
}

/** What was not to be read from a question, as its details have it. */
export function ignoredOf({ ignore_inferred: ignored }: Message["details"]): readonly string[] | true {
  return ignored === true ? true : Array.isArray(ignored) ? ignored : [];
}

/** The scope that a message's details carry. */
export function scopeOf(details: Message["details"]): Scope {
  if (!details.scope) return EVERYTHING;
  const { filters, ...rest } = details.scope;
  return withFilters(rest, filtersOf(filters));
}
