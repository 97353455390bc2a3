// Choosing files, and how they are to be read.
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, FileUp, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { projectsQuery } from "../api/queries";
import type { WorkspaceId } from "../api/workspace";
import { formatBytes } from "../lib/format";
import { useStore } from "../lib/store";
import { MetadataEditor } from "../metadata/MetadataEditor";
import { problemsOf, type RowProblem } from "../metadata/values";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Notice } from "../ui/Notice";
import { Switch } from "../ui/Switch";
import { find, useShared } from "../workspace/workspaces";
import { EstimateNote, useEstimate } from "./EstimateNote";
import { chosenFiles } from "./folders";
import {
  addUploads,
  closeUploadDialog,
  DEFAULT_OPTIONS,
  openUploadDialog,
  type Problem,
  type UploadOptions,
  uploadDialog,
} from "./uploads";

const MOST_LISTED = 100;
const NONE: ReadonlyMap<number, RowProblem> = new Map();
const NO_FILES: readonly File[] = [];

/** What was said of files in one workspace is not said of those in another. */
export function UploadDialog(): ReactNode {
  const workspace = useStore(uploadDialog, (present) => present.workspace);
  return <DialogOf key={workspace} workspace={workspace} />;
}

function DialogOf({ workspace }: { workspace: WorkspaceId }): ReactNode {
  const { open, files, again } = useStore(uploadDialog);
  const [options, setOptions] = useState(again?.options ?? DEFAULT_OPTIONS);
  const [problem, setProblem] = useState<Problem | null>(again?.problem ?? null);
  const [isTried, setTried] = useState(false);
  const [taken, setTaken] = useState(again);
  // A file that was refused comes with its details, once.
  if (again !== taken) {
    setTaken(again);
    if (again) {
      setOptions(again.options);
      setProblem(again.problem);
    }
  }
  const problems = problemsOf(options.metadata);
  // In somebody else's project, the owner pays, and the limits are theirs.
  const estimate = useEstimate(workspace === null ? files : NO_FILES, options.multimodal);
  const close = (): void => {
    setProblem(null);
    setTried(false);
    closeUploadDialog();
  };
  const start = (): void => {
    setTried(true);
    if (problems.size) return;
    addUploads(files, options, workspace);
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
          <Button kind="primary" disabled={!files.length || estimate?.exceeds === "yes"} onClick={start}>
            {files.length ? t.addCount(files.length) : t.addFiles}
          </Button>
        </>
      }
    >
      <div className="stack">
        <Destination workspace={workspace} />
        <Chooser onFiles={(more) => openUploadDialog([...uploadDialog.get().files, ...more])} />
        {files.length > 0 && <Chosen files={files} />}
        <EstimateNote estimate={estimate} />
        <Options
          options={options}
          hasProjects={workspace === null}
          hasOneFile={files.length <= 1}
          problem={problem}
          problems={isTried ? problems : NONE}
          onChange={(changed) => {
            setOptions(changed);
            setProblem(null);
          }}
        />
      </div>
    </Dialog>
  );
}

/** Said before anything else: the files go to somebody else. */
function Destination({ workspace }: { workspace: WorkspaceId }): ReactNode {
  const project = find(useShared(), workspace);
  if (workspace === null) return null;
  return <Notice>{project ? t.uploadTo(project.name, project.owner_name) : t.uploadToNobody}</Notice>;
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
  const remove = (file: File): void => openUploadDialog(files.filter((other) => other !== file));
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

/** Whether a field of the dialog says what is wrong. */
function isShownAtAField({ key }: Problem, { metadata }: UploadOptions): boolean {
  return key === "identifier" || metadata.some((row) => row.key.trim() === key);
}

interface OptionsProps {
  options: UploadOptions;
  hasProjects: boolean;
  hasOneFile: boolean;
  problem: Problem | null;
  problems: ReadonlyMap<number, RowProblem>;
  onChange: (options: UploadOptions) => void;
}

function Options({ options, hasProjects, hasOneFile, problem, problems, onChange }: OptionsProps): ReactNode {
  const details = useRef<HTMLDetailsElement>(null);
  const isWrong = problem !== null || problems.size > 0;
  useEffect(() => {
    if (isWrong && details.current) details.current.open = true;
  }, [isWrong]);
  const set = (values: Partial<UploadOptions>): void => onChange({ ...options, ...values });
  return (
    <details className="upload-options" ref={details}>
      <summary>
        {t.uploadOptions}
        <ChevronDown size={16} aria-hidden />
      </summary>
      <div className="upload-fields">
        {hasProjects && <ProjectField project={options.project} onProject={(project) => set({ project })} />}
        {hasOneFile && (
          <label className="field">
            <span>{t.identifier}</span>
            <input
              className="input"
              value={options.identifier}
              placeholder={t.identifierHint}
              maxLength={128}
              aria-invalid={problem?.key === "identifier"}
              aria-describedby={problem?.key === "identifier" ? "identifier-problem" : undefined}
              onChange={(event) => set({ identifier: event.target.value })}
            />
            {problem?.key === "identifier" && (
              <span className="field-problem small" id="identifier-problem" role="alert">
                {problem.message}
              </span>
            )}
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
        <div className="upload-metadata">
          <MetadataEditor
            rows={options.metadata}
            problems={problems}
            refusal={problem && { key: problem.key ?? null, message: problem.message }}
            onRows={(metadata) => set({ metadata })}
          />
        </div>
        {problem && !isShownAtAField(problem, options) && <Notice kind="error">{problem.message}</Notice>}
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

function ProjectField({ project, onProject }: { project: string; onProject: (project: string) => void }): ReactNode {
  const projects = useQuery(projectsQuery(null));
  return (
    <label className="field">
      <span>{t.project}</span>
      <input
        className="input"
        list="upload-projects"
        value={project}
        placeholder={projects.data?.[0]?.name}
        onChange={(event) => onProject(event.target.value)}
      />
      <datalist id="upload-projects">
        {projects.data?.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </label>
  );
}
