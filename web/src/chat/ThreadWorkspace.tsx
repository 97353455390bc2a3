// Below a chat that is about other files than those that are shown: what it is about, and the way there.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { hasAccounts } from "../api/client";
import { projectsQuery, sharedProjectsQuery } from "../api/queries";
import type { WorkspaceId } from "../api/workspace";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { switchTo } from "../workspace/switching";
import { find, useShared } from "../workspace/workspaces";
import { type Scope, within } from "./scope";

export interface ThreadPlace {
  /** False while it is not known whose project the chat is about. */
  isKnown: boolean;
  /** Whether its project was deleted, or is no longer shared. */
  isGone: boolean;
  workspace: WorkspaceId;
  scope: Scope;
}

/** Whose files the last question of a chat was about. */
export function useThreadPlace(asked: Scope): ThreadPlace {
  const shared = useQuery(sharedProjectsQuery());
  const { workspace, scope } = within(asked, (id) => find(shared.data ?? [], id) !== null);
  const isAboutOwn = hasAccounts() && scope.project !== undefined;
  const own = useQuery({ ...projectsQuery(null), enabled: isAboutOwn });
  const isPending = (hasAccounts() && shared.isPending) || own.isLoading;
  // The projects are known also where nothing asks for them here: the library does.
  const isGone = isAboutOwn && !isPending && own.data !== undefined && !own.data.some(({ id }) => id === scope.project);
  return { isKnown: !isPending, isGone, workspace, scope };
}

/** Takes the place of the composer. */
export function Elsewhere({ workspace }: { workspace: WorkspaceId }): ReactNode {
  const project = find(useShared(), workspace);
  return (
    <Instead
      text={project ? t.threadInProject(project.name, project.owner_name) : t.threadInOwn}
      action={project ? t.switchToProject : t.switchToOwn}
      onAction={() => switchTo(workspace)}
    />
  );
}

/** Takes the place of the composer, too: what the chat is about cannot be asked any more. */
export function Gone(): ReactNode {
  const [, navigate] = useLocation();
  return <Instead kind="warn" text={t.threadGone} action={t.newChat} onAction={() => navigate("/")} />;
}

interface InsteadProps {
  kind?: "info" | "warn";
  text: string;
  action: string;
  onAction: () => void;
}

function Instead({ kind = "info", text, action, onAction }: InsteadProps): ReactNode {
  return (
    <div className="composer-frame">
      <div className="composer-instead">
        <Notice kind={kind}>
          <div className="row wrap">
            <span className="composer-instead-text">{text}</span>
            <Button small onClick={onAction}>
              {action}
            </Button>
          </div>
        </Notice>
      </div>
    </div>
  );
}
