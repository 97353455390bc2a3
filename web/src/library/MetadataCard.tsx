// What people say of a file, and a dialog to change it.
import { PencilLine } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, type Resource } from "../api/client";
import { formatMoment } from "../lib/format";
import { MetadataEditor } from "../metadata/MetadataEditor";
import {
  changesOf,
  type MetadataRow,
  type MetadataValue,
  problemsOf,
  type RowProblem,
  refusedKey,
  rowsOf,
} from "../metadata/values";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Notice } from "../ui/Notice";
import { notify } from "../ui/Toasts";
import { useMayChange } from "../workspace/workspaces";
import { describeFile } from "./actions";

const NONE: ReadonlyMap<number, RowProblem> = new Map();
const TIME = /^\d{4}-\d\d-\d\dT/;

export function MetadataCard({ resource }: { resource: Resource }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMayChange()(resource);
  const said = Object.entries(resource.metadata ?? {});
  return (
    <section className="card stack" aria-labelledby="metadata-title">
      <div className="spread">
        <h2 id="metadata-title">{t.metadata}</h2>
        {mayChange && (
          <IconButton small label={t.editMetadata} onClick={() => setOpen(true)}>
            <PencilLine size={15} aria-hidden />
          </IconButton>
        )}
      </div>
      {said.length || resource.identifier ? (
        <dl className="facts small">
          {resource.identifier && (
            <div>
              <dt className="muted">{t.identifier}</dt>
              <dd>{resource.identifier}</dd>
            </div>
          )}
          {said.map(([key, value]) => (
            <div key={key}>
              <dt className="muted">{key}</dt>
              <dd>{shown(value)}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <p className="muted small">{mayChange ? t.metadataNone : t.metadataNoneYet}</p>
      )}
      <Dialog open={isOpen} onClose={() => setOpen(false)} wide title={t.editMetadata} description={t.editMetadataText}>
        <EditForm resource={resource} onClose={() => setOpen(false)} />
      </Dialog>
    </section>
  );
}

function shown(value: MetadataValue): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "boolean") return value ? t.yes : t.no;
  return typeof value === "string" && TIME.test(value) ? formatMoment(value) : String(value);
}

function EditForm({ resource, onClose }: { resource: Resource; onClose: () => void }): ReactNode {
  const before = resource.metadata ?? {};
  const [rows, setRows] = useState<readonly MetadataRow[]>(() => rowsOf(before));
  const [identifier, setIdentifier] = useState(resource.identifier ?? "");
  const [refusal, setRefusal] = useState<{ key: string | null; message: string } | null>(null);
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const problems = problemsOf(rows);
  const isAtField = refusal?.key === "identifier" || rows.some(({ key }) => key.trim() === refusal?.key);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (problems.size) return;
    setBusy(true);
    try {
      await describeFile(resource.id, changesOf(before, rows), identifier.trim());
      notify(t.metadataSaved);
      onClose();
    } catch (error) {
      const isRefused = error instanceof ApiError;
      const key = isRefused ? (error.code === "conflict" ? "identifier" : refusedKey(error.details)) : null;
      setRefusal({ key, message: isRefused ? error.message : t.noConnection });
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      <label className="field">
        <span>{t.identifier}</span>
        <input
          className="input"
          value={identifier}
          placeholder={t.identifierHint}
          maxLength={128}
          aria-invalid={refusal?.key === "identifier"}
          aria-describedby={refusal?.key === "identifier" ? "refused-identifier" : undefined}
          onChange={(event) => {
            setIdentifier(event.target.value);
            setRefusal(null);
          }}
        />
        {refusal?.key === "identifier" && (
          <span className="field-problem small" id="refused-identifier" role="alert">
            {refusal.message}
          </span>
        )}
      </label>
      <MetadataEditor
        rows={rows}
        problems={isTried ? problems : NONE}
        refusal={refusal}
        onRows={(changed) => {
          setRows(changed);
          setRefusal(null);
        }}
      />
      {refusal && !isAtField && <Notice kind="error">{refusal.message}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit" disabled={isBusy}>
          {t.save}
        </Button>
      </div>
    </form>
  );
}
