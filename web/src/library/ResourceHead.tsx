// The name of a file, its state, and what can be done with it.
import { ArrowLeft, Download, Ellipsis, FileUp, MessageSquareText, PanelRight, RefreshCw, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import type { Resource } from "../api/client";
import { isBusy } from "../api/queries";
import { pendingScope } from "../chat/pending";
import { fileAddress } from "../lib/save";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { FileIcon } from "../ui/FileIcon";
import { Menu } from "../ui/Menu";
import { Status } from "../ui/Status";
import { notify, notifyError } from "../ui/Toasts";
import { openViewer } from "../viewer/state";
import { useMayChange } from "../workspace/workspaces";
import { reindex } from "./actions";
import { Progress } from "./Progress";

interface ResourceHeadProps {
  resource: Resource;
  onReplace: () => void;
  onDelete: () => void;
}

export function ResourceHead({ resource, onReplace, onDelete }: ResourceHeadProps): ReactNode {
  const [, navigate] = useLocation();
  const mayChange = useMayChange()(resource);
  const ask = (): void => {
    pendingScope.set({ resource_ids: [resource.id] });
    navigate("/");
  };
  const again = (): void => void reindex(resource.id).then(() => notify(t.reindexed), notifyError);
  const isBeingWorkedOn = isBusy(resource);
  return (
    <header className="resource-head">
      <Link href="/library" className="back-link">
        <ArrowLeft size={15} aria-hidden />
        {t.backToLibrary}
      </Link>
      <div className="resource-title">
        <span className="file-tile">
          <FileIcon type={resource.type} size={22} />
        </span>
        <div className="resource-name">
          <h1>{resource.filename}</h1>
          <div className="row wrap">
            {isBeingWorkedOn ? <Progress of={resource} /> : <Status status={resource.status} />}
            {resource.identifier && <span className="muted small">{resource.identifier}</span>}
            {resource.version > 1 && <span className="muted small">{t.versionNumber(resource.version)}</span>}
            {resource.parent_id && (
              <Link href={`/library/${resource.parent_id}`} className="small">
                {t.fromInside}
              </Link>
            )}
          </div>
        </div>
        <div className="row wrap resource-actions">
          <Button onClick={() => openViewer({ resourceId: resource.id, filename: resource.filename })}>
            <PanelRight size={16} aria-hidden />
            {t.openSource}
          </Button>
          {resource.chunk_count > 0 && (
            <Button kind="primary" onClick={ask}>
              <MessageSquareText size={16} aria-hidden />
              {t.askAbout}
            </Button>
          )}
          <Menu
            align="end"
            trigger={
              <button type="button" className="icon-button" aria-label={t.fileMenu(resource.filename)}>
                <Ellipsis size={18} aria-hidden />
              </button>
            }
            items={[
              {
                label: t.download,
                icon: <Download size={15} aria-hidden />,
                onSelect: () => window.location.assign(fileAddress(resource.id)),
              },
              ...(mayChange
                ? [
                    { label: t.reindex, icon: <RefreshCw size={15} aria-hidden />, onSelect: again },
                    { label: t.newVersion, icon: <FileUp size={15} aria-hidden />, onSelect: onReplace },
                    "separator" as const,
                    { label: t.deleteFile, icon: <Trash2 size={15} aria-hidden />, danger: true, onSelect: onDelete },
                  ]
                : []),
            ]}
          />
        </div>
      </div>
    </header>
  );
}
