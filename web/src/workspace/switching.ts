// Going from one workspace to another: nothing that was prepared for the one is left over for the other.
import { queryClient } from "../api/queries";
import { chooseWorkspace, presentWorkspace, type WorkspaceId } from "../api/workspace";
import { pendingScope, pendingText } from "../chat/pending";
import { EVERYTHING } from "../chat/scope";
import { createStore } from "../lib/store";
import { closeViewer } from "../viewer/state";

/** The name of the project that was left because it is no longer shared; empty where only its address was known. */
export const lostProject = createStore<string | null>(null);

export function switchTo(workspace: WorkspaceId): void {
  lostProject.set(null);
  if (workspace !== presentWorkspace()) leave(workspace);
}

/** Fall back to one's own files, and say so: the project is no longer shared. What was read of it is forgotten. */
export function loseProject(name: string): void {
  leave(null);
  lostProject.set(name);
  void queryClient.resetQueries();
}

function leave(workspace: WorkspaceId): void {
  closeViewer();
  pendingScope.set(EVERYTHING);
  pendingText.set("");
  chooseWorkspace(workspace);
}

/** The screen to show after a switch: a chat or a file belongs to the workspace that was left. */
export function screenAfter(path: string): string {
  if (path.startsWith("/conversations/")) return "/";
  return path.startsWith("/library/") ? "/library" : path;
}
