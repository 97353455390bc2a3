// Chooses whose files the screens are about; there from the moment on when somebody shares a project.
import { Menu } from "@base-ui/react/menu";
import { Check, ChevronsUpDown, FolderOpen, FolderSymlink } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { t } from "../strings";
import { screenAfter, switchTo } from "./switching";
import { type SharedProject, useShared, useWorkspace } from "./workspaces";

/** A radio item has a text; no project has an empty id. */
const OWN = "";

export function WorkspaceSwitcher(): ReactNode {
  const shared = useShared();
  const { project } = useWorkspace();
  const [path, navigate] = useLocation();
  if (!shared.length) return null;
  const enter = (id: string): void => {
    if (id === (project?.id ?? OWN)) return;
    switchTo(id === OWN ? null : id);
    navigate(screenAfter(path));
  };
  const name = project?.name ?? t.ownFiles;
  return (
    <div className="workspace-switcher">
      <Menu.Root modal={false}>
        <Menu.Trigger className="workspace-trigger" aria-label={t.workingInNamed(name, project?.owner_name ?? null)}>
          <WorkspaceIcon project={project} />
          <Name name={name} about={project && aboutOf(project)} />
          <ChevronsUpDown size={15} aria-hidden />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="positioner" sideOffset={6} align="start">
            <Menu.Popup className="popup">
              <Menu.RadioGroup aria-label={t.workingIn} value={project?.id ?? OWN} onValueChange={enter}>
                <Choice value={OWN} project={null} />
                {shared.map((one) => (
                  <Choice key={one.id} value={one.id} project={one} />
                ))}
              </Menu.RadioGroup>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}

function Choice({ value, project }: { value: string; project: SharedProject | null }): ReactNode {
  return (
    <Menu.RadioItem value={value} className="menu-item" closeOnClick label={project?.name ?? t.ownFiles}>
      <WorkspaceIcon project={project} />
      <Name name={project?.name ?? t.ownFiles} about={project && aboutOf(project)} />
      <Menu.RadioItemIndicator className="workspace-chosen">
        <Check size={15} aria-hidden />
      </Menu.RadioItemIndicator>
    </Menu.RadioItem>
  );
}

function WorkspaceIcon({ project }: { project: SharedProject | null }): ReactNode {
  const Icon = project ? FolderSymlink : FolderOpen;
  return <Icon size={17} aria-hidden />;
}

/** Names are others' words: their direction of writing ends with them. */
function Name({ name, about }: { name: string; about: string | null }): ReactNode {
  return (
    <span className="workspace-name">
      <bdi className="truncate">{name}</bdi>
      {about !== null && <bdi className="truncate muted small">{about}</bdi>}
    </span>
  );
}

function aboutOf({ owner_name: owner, role }: SharedProject): string {
  return [owner, t.role[role]].filter(Boolean).join(" · ");
}
