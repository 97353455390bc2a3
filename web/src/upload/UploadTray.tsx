// What is going up and being read, in a corner, whatever else one does.
import {
  CheckCircle2,
  ChevronDown,
  ChevronUp,
  LoaderCircle,
  PencilLine,
  RotateCw,
  TriangleAlert,
  X,
} from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { type BusyStatus, lookUp, needsPassword } from "../api/codes";
import { formatBytes } from "../lib/format";
import { useThrottled } from "../lib/hooks";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Status } from "../ui/Status";
import { find, useShared } from "../workspace/workspaces";
import {
  cancelUpload,
  changeDetails,
  clearFinished,
  isAboutDetails,
  isOver,
  needsAttention,
  retryUpload,
  type Upload,
  uploads,
} from "./uploads";

const STAGES = ["sending", "extracting", "indexing"] as const;
/** Stages done in each state. */
const DONE_AFTER = {
  queued: 0,
  sending: 0,
  uploaded: 1,
  extracting: 1,
  extracted: 2,
  indexing: 2,
  embedding: 3,
} satisfies Record<BusyStatus | "queued" | "sending", number>;

/** At most this often, so that ten thousand files do not talk over everything else. */
const SPOKEN_MS = 5_000;

export function UploadTray(): ReactNode {
  const all = useStore(uploads);
  const busy = all.filter((upload) => !isOver(upload)).length;
  const attention = all.filter(needsAttention).length;
  const title = busy ? t.uploadingOf(busy) : attention ? t.uploadsFailed(attention) : t.uploadsDone;
  return (
    <>
      <Spoken text={all.length ? title : ""} />
      {all.length > 0 && <Tray title={title} all={all} busy={busy} attention={attention} />}
    </>
  );
}

/** A live region must be on the page before its text changes, so it is there while there are no uploads too. */
function Spoken({ text }: { text: string }): ReactNode {
  const spoken = useThrottled(text, SPOKEN_MS);
  return (
    <p className="visually-hidden" role="status">
      {spoken}
    </p>
  );
}

interface TrayProps {
  title: string;
  all: readonly Upload[];
  busy: number;
  attention: number;
}

function Tray({ title, all, busy, attention }: TrayProps): ReactNode {
  const [isFolded, setFolded] = useState(false);
  useEffect(() => {
    if (attention) setFolded(false);
  }, [attention]);
  const Icon = busy ? LoaderCircle : attention ? TriangleAlert : CheckCircle2;
  return (
    <section className="tray" aria-label={t.uploads}>
      <div className="tray-head">
        <Icon size={17} aria-hidden className={busy ? "spinner" : attention ? "tray-warn" : "tray-ok"} />
        <span className="grow">{title}</span>
        <IconButton
          small
          label={isFolded ? t.expandUploads : t.collapseUploads}
          aria-expanded={!isFolded}
          onClick={() => setFolded(!isFolded)}
        >
          {isFolded ? <ChevronUp size={16} aria-hidden /> : <ChevronDown size={16} aria-hidden />}
        </IconButton>
        {!busy && (
          <IconButton small label={t.clearFinished} onClick={clearFinished}>
            <X size={16} aria-hidden />
          </IconButton>
        )}
      </div>
      {!isFolded && (
        <ul className="tray-list" tabIndex={0} aria-label={t.uploads}>
          {all.map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </ul>
      )}
    </section>
  );
}

function UploadRow({ upload }: { upload: Upload }): ReactNode {
  const { id, name, resourceId, file, status, problem } = upload;
  const project = find(useShared(), upload.workspace);
  const share = file.size ? upload.sent / file.size : 1;
  const done = lookUp<number>(DONE_AFTER, status) ?? STAGES.length;
  return (
    <li className="upload" data-status={status}>
      <div className="upload-line">
        {resourceId ? (
          <Link href={`/library/${resourceId}`} className="upload-name truncate" title={name}>
            {name}
          </Link>
        ) : (
          <span className="upload-name truncate" title={name}>
            {name}
          </span>
        )}
        <Status status={status} />
        {!isOver(upload) && !resourceId && (
          <IconButton small label={t.cancelUpload(name)} onClick={() => cancelUpload(id)}>
            <X size={14} aria-hidden />
          </IconButton>
        )}
      </div>
      {!isOver(upload) && (
        <div className="upload-stages" aria-hidden>
          {STAGES.map((stage, index) => (
            <div key={stage} className="progress">
              <div
                className={
                  index === done && status !== "sending" && status !== "queued"
                    ? "progress-bar progress-busy"
                    : "progress-bar"
                }
                style={{ width: `${index < done ? 100 : index > done ? 0 : stage === "sending" ? share * 100 : 60}%` }}
              />
            </div>
          ))}
        </div>
      )}
      {status === "sending" && (
        <span className="muted small tabular">
          {formatBytes(upload.sent)} / {formatBytes(file.size)}
        </span>
      )}
      {upload.known && !problem && <span className="muted small">{t.known[upload.known](project?.name)}</span>}
      {project && !upload.known && <span className="muted small">{t.uploadingTo(project.name)}</span>}
      {problem && (
        <p className="upload-problem small">{lookUp<string>(t.failedTitle, problem.code) ?? problem.message}</p>
      )}
      {needsAttention(upload) &&
        (needsPassword(problem?.code) ? (
          <PasswordRetry id={id} />
        ) : isAboutDetails(upload) ? (
          <Button small onClick={() => changeDetails(id)}>
            <PencilLine size={14} aria-hidden />
            {t.changeDetails}
          </Button>
        ) : (
          <Button small onClick={() => retryUpload(id)}>
            <RotateCw size={14} aria-hidden />
            {t.tryAgain}
          </Button>
        ))}
    </li>
  );
}

function PasswordRetry({ id }: { id: string }): ReactNode {
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    retryUpload(id, password);
  };
  return (
    <form className="row" onSubmit={submit}>
      <input
        className="input"
        type="password"
        autoComplete="off"
        aria-label={t.password}
        placeholder={t.password}
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button small type="submit">
        {t.retryWithPassword}
      </Button>
    </form>
  );
}
