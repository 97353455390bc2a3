// Choosing files, and how they are to be read.
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, FileUp, X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { projectsQuery } from "../api/queries";
import { formatBytes } from "../lib/format";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Switch } from "../ui/Switch";
import { chosenFiles } from "./folders";
import { addUploads, DEFAULT_OPTIONS, type UploadOptions, uploadDialog } from "./uploads";

const MOST_LISTED = 100;

export function UploadDialog(): ReactNode {
  const { open, files } = useStore(uploadDialog);
  const [options, setOptions] = useState(DEFAULT_OPTIONS);
  const close = (): void => uploadDialog.set({ open: false, files: [] });
  const start = (): void => {
    addUploads(files, options);
    setOptions({ ...DEFAULT_OPTIONS, project: options.project });
    close();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      wide
      title={t.uploadTitle}
      description={t.uploadText}
      actions={
        <>
          <Button onClick={close}>{t.cancel}</Button>
          <Button kind="primary" disabled={!files.length} onClick={start}>
            {files.length ? t.addCount(files.length) : t.addFiles}
          </Button>
        </>
      }
    >
      <div className="stack">
        <Chooser
          onFiles={(more) => uploadDialog.set((present) => ({ open: true, files: [...present.files, ...more] }))}
        />
        {files.length > 0 && <Chosen files={files} />}
        <Options options={options} hasOneFile={files.length <= 1} onChange={setOptions} />
      </div>
    </Dialog>
  );
}

function Chooser({ onFiles }: { onFiles: (files: File[]) => void }): ReactNode {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement): void => {
    onFiles(chosenFiles(input.files));
    input.value = "";
  };
  return (
    <div className="drop-zone">
      <FileUp size={30} aria-hidden />
      <p>{t.drop}</p>
      <div className="row">
        <Button onClick={() => files.current?.click()}>{t.chooseFiles}</Button>
        <Button kind="quiet" onClick={() => folder.current?.click()}>
          {t.chooseFolder}
        </Button>
      </div>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label={t.chooseFiles}
        onChange={(event) => take(event.currentTarget)}
      />
      <input
        ref={(element) => {
          folder.current = element;
          element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        hidden
        aria-label={t.chooseFolder}
        onChange={(event) => take(event.currentTarget)}
      />
    </div>
  );
}

const keys = new WeakMap<File, string>();

/** Two files chosen from different folders may have the same name. */
function keyOf(file: File): string {
  const key = keys.get(file) ?? crypto.randomUUID();
  keys.set(file, key);
  return key;
}

function Chosen({ files }: { files: File[] }): ReactNode {
  const remove = (file: File): void => uploadDialog.set({ open: true, files: files.filter((other) => other !== file) });
  return (
    <ul className="chosen" aria-label={t.files(files.length)}>
      {files.slice(0, MOST_LISTED).map((file) => (
        <li key={keyOf(file)}>
          <span className="truncate grow">{file.name}</span>
          <span className="muted small tabular">{formatBytes(file.size)}</span>
          <IconButton small label={t.removeChosen(file.name)} onClick={() => remove(file)}>
            <X size={14} aria-hidden />
          </IconButton>
        </li>
      ))}
      {files.length > MOST_LISTED && <li className="muted small">+ {t.files(files.length - MOST_LISTED)}</li>}
    </ul>
  );
}

interface OptionsProps {
  options: UploadOptions;
  hasOneFile: boolean;
  onChange: (options: UploadOptions) => void;
}

function Options({ options, hasOneFile, onChange }: OptionsProps): ReactNode {
  const projects = useQuery(projectsQuery());
  const set = (values: Partial<UploadOptions>): void => onChange({ ...options, ...values });
  return (
    <details className="upload-options">
      <summary>
        {t.uploadOptions}
        <ChevronDown size={16} aria-hidden />
      </summary>
      <div className="upload-fields">
        <label className="field">
          <span>{t.project}</span>
          <input
            className="input"
            list="upload-projects"
            value={options.project}
            placeholder={projects.data?.[0]?.name}
            onChange={(event) => set({ project: event.target.value })}
          />
          <datalist id="upload-projects">
            {projects.data?.map(({ id, name }) => (
              <option key={id} value={name} />
            ))}
          </datalist>
        </label>
        {hasOneFile && (
          <label className="field">
            <span>{t.identifier}</span>
            <input
              className="input"
              value={options.identifier}
              placeholder={t.identifierHint}
              maxLength={512}
              onChange={(event) => set({ identifier: event.target.value })}
            />
          </label>
        )}
        <label className="field">
          <span>{t.password}</span>
          <input
            className="input"
            type="password"
            autoComplete="off"
            value={options.password}
            placeholder={t.passwordHint}
            onChange={(event) => set({ password: event.target.value })}
          />
        </label>
        <div className="upload-switches">
          <Switch
            label={t.extractTables}
            checked={options.extractTables}
            onChange={(extractTables) => set({ extractTables })}
          />
          <Switch
            label={t.extractImages}
            checked={options.extractImages}
            onChange={(extractImages) => set({ extractImages })}
          />
          <Switch label={t.multimodal} checked={options.multimodal} onChange={(multimodal) => set({ multimodal })} />
        </div>
      </div>
    </details>
  );
}
