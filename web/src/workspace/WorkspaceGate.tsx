// Shows screens once it is known which project they are about, and leaves a project that is no longer shared.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { hasAccounts, signedInAs } from "../api/client";
import { sharedProjectsQuery } from "../api/queries";
import { chosenWorkspace } from "../api/workspace";
import { useStore } from "../lib/store";
import { Failure, Loading } from "../ui/Notice";
import { loseProject, screenAfter } from "./switching";
import { find } from "./workspaces";

export function WorkspaceGate({ children }: { children: ReactNode }): ReactNode {
  const chosen = useStore(chosenWorkspace);
  const shared = useQuery(sharedProjectsQuery());
  const [path, navigate] = useLocation();
  const project = find(shared.data ?? [], chosen ?? undefined);
  const name = useRef("");
  // While nobody is signed in, the list is not asked for: that says nothing of the project.
  const isKnown = shared.isSuccess || (signedInAs() !== null && !hasAccounts());
  const isLost = chosen !== null && project === null && isKnown;
  useEffect(() => {
    if (project) name.current = project.name;
  }, [project]);
  useEffect(() => {
    if (!isLost) return;
    loseProject(name.current);
    name.current = "";
    navigate(screenAfter(path));
  }, [isLost, path, navigate]);

  if (chosen === null || project) return children;
  return (
    <main className="screen">
      {shared.isError ? <Failure error={shared.error} onRetry={() => void shared.refetch()} /> : <Loading lines={8} />}
    </main>
  );
}
