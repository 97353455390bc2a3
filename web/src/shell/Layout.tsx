// The frame around every screen: navigation at the left (a drawer on phones), the palette, the uploads.
import { Menu as MenuIcon } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { PHONE, useMedia, useShortcut } from "../lib/hooks";
import { t } from "../strings";
import { IconButton } from "../ui/Button";
import { DropTarget } from "../upload/DropTarget";
import { UnsentNotice } from "../upload/UnsentNotice";
import { UploadDialog } from "../upload/UploadDialog";
import { UploadTray } from "../upload/UploadTray";
import { WorkspaceBar } from "../workspace/WorkspaceBar";
import { useWorkspace } from "../workspace/workspaces";
import { Palette } from "./Palette";
import { RebuildingNotice } from "./RebuildingNotice";
import { Sidebar } from "./Sidebar";

export function Layout({ children }: { children: ReactNode }): ReactNode {
  const isPhone = useMedia(PHONE);
  const [path] = useLocation();
  const { project } = useWorkspace();
  const location = `${path} ${project?.id}`;
  const [drawer, setDrawer] = useState(false);
  const [shown, setShown] = useState(location);
  if (shown !== location) {
    // Who has gone somewhere is done with the drawer.
    setShown(location);
    setDrawer(false);
  }
  const [palette, setPalette] = useState(false);
  useShortcut(
    "k",
    useCallback(() => setPalette((open) => !open), []),
  );
  useEffect(() => {
    const close = (event: KeyboardEvent): void => {
      if (event.key === "Escape") setDrawer(false);
    };
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, []);

  return (
    <div className="layout">
      <a className="skip-link" href="#content">
        {t.skipToContent}
      </a>
      {isPhone && (
        <div className="phone-bar">
          <IconButton label={t.menu} aria-expanded={drawer} onClick={() => setDrawer(true)}>
            <MenuIcon size={20} aria-hidden />
          </IconButton>
        </div>
      )}
      {isPhone && drawer && (
        <button
          type="button"
          className="backdrop drawer-backdrop"
          aria-label={t.close}
          onClick={() => setDrawer(false)}
        />
      )}
      {(!isPhone || drawer) && <Sidebar onPalette={() => setPalette(true)} />}
      <div className="content" id="content" tabIndex={-1}>
        <div className="content-head">
          <WorkspaceBar />
          <RebuildingNotice />
        </div>
        {children}
      </div>
      <Palette open={palette} onClose={() => setPalette(false)} />
      <UploadDialog />
      <div className="upload-corner">
        <UnsentNotice />
        <UploadTray />
      </div>
      <DropTarget />
    </div>
  );
}
