// The projects that others share: which one the screens are about, and what may be done there.
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { hasAccounts, type Resource, type Schemas } from "../api/client";
import { sharedProjectsQuery } from "../api/queries";
import { chosenWorkspace, type WorkspaceId } from "../api/workspace";
import { useStore } from "../lib/store";

export type SharedProject = Schemas["SharedProjectOut"];

const NONE: readonly SharedProject[] = [];

/** The projects that others share; nothing while they are not known. */
export function useShared(): readonly SharedProject[] {
  return useQuery(sharedProjectsQuery()).data ?? NONE;
}

export interface Workspace {
  /** Null for one's own files. */
  project: SharedProject | null;
  /** Whether files may be added. */
  mayAdd: boolean;
}

/** What the screens are about. Below `WorkspaceGate`, a chosen project is always known. */
export function useWorkspace(): Workspace {
  const project = find(useShared(), useStore(chosenWorkspace));
  return { project, mayAdd: mayAdd(project) };
}

export function find(shared: readonly SharedProject[], id: WorkspaceId | undefined): SharedProject | null {
  return shared.find((one) => one.id === id) ?? null;
}

/** Whether files may be added to a workspace. The server is the judge; this keeps people from running into its refusals. */
export function mayAdd(project: SharedProject | null): boolean {
  return project === null || project.role !== "viewer";
}

/** Whether a file may be changed and deleted: one's own, and another owner's that is in no project where one may not. */
export function mayChange({ project_ids }: Pick<Resource, "project_ids">, shared: readonly SharedProject[]): boolean {
  const memberships = project_ids.map((id) => find(shared, id));
  return memberships.every((one) => one === null) || memberships.every((one) => one !== null && mayAdd(one));
}

/** As `mayChange`, and false while it is not known. */
export function useMayChange(): (resource: Pick<Resource, "project_ids">) => boolean {
  const { data = NONE, isPending } = useQuery(sharedProjectsQuery());
  const isKnown = !isPending || !hasAccounts();
  return useCallback((resource) => isKnown && mayChange(resource, data), [isKnown, data]);
}

/** The workspace that a file is in: the one that is shown if the file is there, too. */
export function workspaceOf(
  { project_ids }: Pick<Resource, "project_ids">,
  shared: readonly SharedProject[],
  present: WorkspaceId,
): WorkspaceId {
  const found = shared.filter(({ id }) => project_ids.includes(id));
  return (find(found, present) ?? found[0])?.id ?? null;
}
