// ⌘K or Ctrl K: everything that one can go to or do, by typing.
import { useInfiniteQuery } from "@tanstack/react-query";
import {
  FlaskConical,
  FolderOpen,
  FolderSymlink,
  Library,
  MessageSquare,
  Moon,
  Plus,
  Settings,
  SquarePen,
  Sun,
} from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { threadsQuery } from "../api/queries";
import { useResources } from "../api/resources";
import { setTheme } from "../lib/theme";
import { t } from "../strings";
import { FileIcon } from "../ui/FileIcon";
import { Picker, type PickerOption } from "../ui/Picker";
import { openUploadDialog } from "../upload/uploads";
import { screenAfter, switchTo } from "../workspace/switching";
import { useShared, useWorkspace } from "../workspace/workspaces";

const SIZE = 16;

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const [path, navigate] = useLocation();
  const { project, mayAdd } = useWorkspace();
  const shared = useShared();
  const threads = useInfiniteQuery({ ...threadsQuery(""), enabled: open });
  const resources = useResources(open);
  const go = (label: string, to: string, icon: ReactNode): PickerOption => ({
    id: `go ${to}`,
    label,
    icon,
    group: t.actions,
    onPick: () => navigate(to),
  });
  const enter = (id: string | null, label: string, hint: string | null, icon: ReactNode): PickerOption => ({
    id: `workspace ${id}`,
    label,
    ...(hint !== null && { hint }),
    icon,
    group: t.workingIn,
    onPick: () => {
      switchTo(id);
      navigate(screenAfter(path));
    },
  });
  const options: PickerOption[] = [
    go(t.newChat, "/", <SquarePen size={SIZE} aria-hidden />),
    ...(mayAdd
      ? [
          {
            id: "upload",
            label: t.uploadFiles,
            icon: <Plus size={SIZE} aria-hidden />,
            group: t.actions,
            onPick: () => openUploadDialog(),
          },
        ]
      : []),
    go(t.library, "/library", <Library size={SIZE} aria-hidden />),
    go(t.search, "/playground", <FlaskConical size={SIZE} aria-hidden />),
    go(t.settings, "/settings", <Settings size={SIZE} aria-hidden />),
    ...(project ? [enter(null, t.ownFiles, null, <FolderOpen size={SIZE} aria-hidden />)] : []),
    ...shared
      .filter(({ id }) => id !== project?.id)
      .map(({ id, name, owner_name }) => enter(id, name, owner_name, <FolderSymlink size={SIZE} aria-hidden />)),
    {
      id: "light",
      label: t.theme.light,
      icon: <Sun size={SIZE} aria-hidden />,
      group: t.themeTitle,
      onPick: () => setTheme("light"),
    },
    {
      id: "dark",
      label: t.theme.dark,
      icon: <Moon size={SIZE} aria-hidden />,
      group: t.themeTitle,
      onPick: () => setTheme("dark"),
    },
    ...(threads.data?.pages.flatMap((page) => page.threads) ?? []).map((thread) => ({
      id: thread.id,
      label: thread.title,
      icon: <MessageSquare size={SIZE} aria-hidden />,
      group: t.chat,
      onPick: () => navigate(`/conversations/${thread.id}`),
    })),
    ...(resources.data ?? []).map((resource) => ({
      id: resource.id,
      label: resource.filename,
      icon: <FileIcon type={resource.type} />,
      group: t.library,
      onPick: () => navigate(`/library/${resource.id}`),
    })),
  ];
  return (
    <Picker open={open} onClose={onClose} title={t.palette} placeholder={t.palettePlaceholder} options={options} />
  );
}
