// What a page that was left, reloaded or lost did not send, until that has been read.

import { FileUp, TriangleAlert, X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { WorkspaceId } from "../api/workspace";
import { formatBytes } from "../lib/format";
import { placed } from "../lib/placed";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { find, mayAdd, useShared } from "../workspace/workspaces";
import { chosenFiles } from "./folders";
import { dismissLost, lostFiles } from "./unsent";
import { openUploadDialog } from "./uploads";

const MOST_LISTED = 100;

export function UnsentNotice(): ReactNode {
  const files = useStore(lostFiles);
  const input = useRef<HTMLInputElement>(null);
  const workspace = useRef<WorkspaceId>(null);
  const shared = useShared();
  // Of a project where one may not add files any more, the list alone is left.
  const targets = [...new Set(files.map((file) => file.workspace ?? null))].filter(
    (target) => target === null || (find(shared, target) !== null && mayAdd(find(shared, target))),
  );
  if (!files.length) return null;
  return (
    <section className="tray" aria-label={t.unsent}>
      <div className="tray-head">
        <TriangleAlert size={17} aria-hidden className="tray-warn" />
        <span className="grow">{t.unsentTitle(files.length)}</span>
        <IconButton small label={t.dismiss} onClick={dismissLost}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      <div className="unsent">
        <p className="muted small">{t.unsentText}</p>
        {targets.map((target) => (
          <Button
            key={target}
            small
            onClick={() => {
              workspace.current = target;
              input.current?.click();
            }}
          >
            <FileUp size={14} aria-hidden />
            {target === null ? t.chooseAgain : t.chooseAgainFor(find(shared, target)?.name ?? "")}
          </Button>
        ))}
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={t.chooseAgain}
          onChange={({ currentTarget }) => {
            openUploadDialog(chosenFiles(currentTarget.files), workspace.current);
            currentTarget.value = "";
          }}
        />
      </div>
      <ul className="tray-list" tabIndex={0} aria-label={t.unsent}>
        {placed(files.slice(0, MOST_LISTED)).map(({ at, item: { name, size } }) => (
          <li key={at} className="upload upload-line">
            <span className="upload-name truncate" title={name}>
              {name}
            </span>
            <span className="muted small tabular">{formatBytes(size)}</span>
          </li>
        ))}
        {files.length > MOST_LISTED && <li className="upload muted small">{t.andMore(files.length - MOST_LISTED)}</li>}
      </ul>
    </section>
  );
}
