// What a question may draw on: everything, tagged documents, or a project.
import type { Message, Schemas } from "../api/client";

export type Scope = Schemas["ScopeOut"];

export const EVERYTHING: Scope = {};

export function isEverything(scope: Scope): boolean {
  return !scope.project && !scope.resource_ids?.length;
}

/** The scope with a document added; a tagged document takes the place of a project. */
export function withDocument(scope: Scope, id: string): Scope {
  const present = scope.resource_ids ?? [];
  return { resource_ids: present.includes(id) ? present : [...present, id] };
}

export function withoutDocument(scope: Scope, id: string): Scope {
  const left = (scope.resource_ids ?? []).filter((present) => present !== id);
  return left.length ? { resource_ids: left } : EVERYTHING;
}

/** The scope that a message's details carry. */
export function scopeOf(details: Message["details"]): Scope {
  return details.scope ?? EVERYTHING;
}
