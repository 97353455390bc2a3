// One file in the list; on phones, two lines.
import { Download, Ellipsis, MessageSquareText, RefreshCw, Trash2 } from "lucide-react";
import { memo, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import type { Resource } from "../api/client";
import { isBusy } from "../api/queries";
import { pendingScope } from "../chat/pending";
import { formatAgo, formatBytes, formatMoment, formatNumber } from "../lib/format";
import { fileAddress } from "../lib/save";
import { t } from "../strings";
import { FileIcon } from "../ui/FileIcon";
import { Menu } from "../ui/Menu";
import { Status } from "../ui/Status";
import { notify, notifyError } from "../ui/Toasts";
import { useMayChange } from "../workspace/workspaces";
import { reindex } from "./actions";
import { Progress } from "./Progress";
import { lengthOf } from "./rows";

interface LibraryRowProps {
  resource: Resource;
  index: number;
  top: number;
  height: number;
  projectNames: ReadonlyMap<string, string>;
  isSelected: boolean;
  isActive: boolean;
  onToggle: (id: string) => void;
  onFocus: (index: number) => void;
  onDelete: (resource: Resource) => void;
}

const NONE = "–";

export const LibraryRow = memo(function LibraryRow(props: LibraryRowProps): ReactNode {
  const { resource, index, top, height, projectNames, isSelected, isActive, onToggle, onFocus } = props;
  const projects = resource.project_ids.map((id) => projectNames.get(id) ?? "").filter(Boolean);
  const length = lengthOf(resource);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-selected={isSelected || undefined}
      data-index={index}
      className="library-row library-file"
      style={{ height, transform: `translateY(${top}px)` }}
      onFocus={() => onFocus(index)}
    >
      <div role="cell" className="library-check">
        <input
          type="checkbox"
          aria-label={t.select(resource.filename)}
          checked={isSelected}
          onChange={() => onToggle(resource.id)}
        />
      </div>
      <div role="cell" className="cell-name">
        <FileIcon type={resource.type} size={17} />
        <Link
          href={`/library/${resource.id}`}
          className="file-link truncate"
          tabIndex={isActive ? 0 : -1}
          title={resource.filename}
        >
          {resource.filename}
        </Link>
        {resource.version > 1 && <span className="muted small">v{resource.version}</span>}
        <span className="cell-meta muted small truncate">
          {[
            resource.type.toUpperCase(),
            formatBytes(resource.file_size_bytes),
            length && t.unitCount(length.unit, length.count),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </div>
      <div role="cell" className="cell-status">
        {isBusy(resource) ? <Progress of={resource} /> : <Status status={resource.status} />}
      </div>
      <div role="cell" className="cell-type muted">
        {resource.type.toUpperCase()}
      </div>
      <div role="cell" className="cell-size cell-figure">
        {formatBytes(resource.file_size_bytes)}
      </div>
      <div role="cell" className="cell-pages cell-figure">
        {length ? t.unitCount(length.unit, length.count) : NONE}
      </div>
      <div role="cell" className="cell-chunks cell-figure">
        {resource.chunk_count ? formatNumber(resource.chunk_count) : NONE}
      </div>
      <div role="cell" className="cell-added muted" title={formatMoment(resource.created_at)}>
        {formatAgo(resource.created_at)}
      </div>
      <div role="cell" className="cell-project muted truncate" title={projects.join(", ")}>
        {projects.join(", ")}
      </div>
      <div role="cell" className="cell-menu">
        <RowMenu {...props} />
      </div>
    </div>
  );
});

function RowMenu({ resource, onDelete }: LibraryRowProps): ReactNode {
  const [, navigate] = useLocation();
  const mayChange = useMayChange()(resource);
  const ask = (): void => {
    pendingScope.set({ resource_ids: [resource.id] });
    navigate("/");
  };
  const again = (): void => void reindex(resource.id).then(() => notify(t.reindexed), notifyError);
  return (
    <Menu
      align="end"
      trigger={
        <button type="button" className="icon-button icon-button-small" aria-label={t.fileMenu(resource.filename)}>
          <Ellipsis size={17} aria-hidden />
        </button>
      }
      items={[
        { label: t.askAbout, icon: <MessageSquareText size={15} aria-hidden />, onSelect: ask },
        {
          label: t.download,
          icon: <Download size={15} aria-hidden />,
          onSelect: () => window.location.assign(fileAddress(resource.id)),
        },
        ...(mayChange
          ? [
              { label: t.reindex, icon: <RefreshCw size={15} aria-hidden />, onSelect: again },
              "separator" as const,
              {
                label: t.delete,
                icon: <Trash2 size={15} aria-hidden />,
                danger: true,
                onSelect: () => onDelete(resource),
              },
            ]
          : []),
      ]}
    />
  );
}
