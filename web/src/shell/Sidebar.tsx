// Navigation, and the threads below it.
import { FlaskConical, Library, MessageSquareText, Search, Settings, SquarePen } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { ThreadList } from "../chat/ThreadList";
import { commandKey } from "../lib/hooks";
import { t } from "../strings";
import { IconButton } from "../ui/Button";
import { WorkspaceSwitcher } from "../workspace/WorkspaceSwitcher";
import { Brand } from "./Brand";

const entries = () => [
  {
    to: "/",
    label: t.chat,
    Icon: MessageSquareText,
    at: (path: string) => path === "/" || path.startsWith("/conversations"),
  },
  { to: "/library", label: t.library, Icon: Library, at: (path: string) => path.startsWith("/library") },
  { to: "/playground", label: t.search, Icon: FlaskConical, at: (path: string) => path.startsWith("/playground") },
  { to: "/settings", label: t.settings, Icon: Settings, at: (path: string) => path.startsWith("/settings") },
];

export function Sidebar({ onPalette }: { onPalette: () => void }): ReactNode {
  const [path, navigate] = useLocation();
  return (
    <div className="sidebar">
      <div className="sidebar-head">
        <Brand />
        <span className="grow" />
        <IconButton label={t.shortcut(t.palette, `${commandKey()}K`)} onClick={onPalette}>
          <Search size={17} aria-hidden />
        </IconButton>
        <IconButton label={t.newChat} onClick={() => navigate("/")}>
          <SquarePen size={17} aria-hidden />
        </IconButton>
      </div>
      <WorkspaceSwitcher />
      <nav aria-label={t.navigation} className="sidebar-nav">
        {entries().map(({ to, label, Icon, at }) => (
          <Link key={to} href={to} className="nav-link" aria-current={at(path) ? "page" : undefined}>
            <Icon size={17} aria-hidden />
            {label}
          </Link>
        ))}
      </nav>
      <ThreadList />
    </div>
  );
}
