// Above every screen while it is about somebody else's project: which one, and whose; and once, that it is no longer shared.
import { ArrowLeft, FolderSymlink } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { lostProject, screenAfter, switchTo } from "./switching";
import { useWorkspace } from "./workspaces";

export function WorkspaceBar(): ReactNode {
  const { project } = useWorkspace();
  const lost = useStore(lostProject);
  const [path, navigate] = useLocation();
  if (lost !== null) return <Lost name={lost} />;
  if (!project) return null;
  const leave = (): void => {
    switchTo(null);
    navigate(screenAfter(path));
  };
  return (
    <section className="workspace-bar small" aria-label={t.workingIn}>
      <FolderSymlink size={15} aria-hidden />
      <span className="workspace-said grow">
        <bdi className="workspace-title truncate">{project.name}</bdi>{" "}
        <bdi className="muted truncate">
          {project.owner_name === null ? t.sharedWord : t.sharedBy(project.owner_name)} · {t.role[project.role]}
        </bdi>
      </span>
      <Button small kind="quiet" aria-label={t.backToOwn} onClick={leave}>
        <ArrowLeft size={15} aria-hidden />
        {t.ownFiles}
      </Button>
    </section>
  );
}

function Lost({ name }: { name: string }): ReactNode {
  return (
    <div className="workspace-lost" role="status">
      <Notice kind="warn">
        <div className="spread">
          <span>{name ? t.projectLost(name) : t.projectUnknown}</span>
          <Button small onClick={() => lostProject.set(null)}>
            {t.dismiss}
          </Button>
        </div>
      </Notice>
    </div>
  );
}
