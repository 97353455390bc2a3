// The field for questions: it grows, shows the scope as chips, and has a menu to attach or filter.
import { useQuery } from "@tanstack/react-query";
import { ArrowUp, AtSign, FolderOpen, ListFilterPlus, Plus, Square, Upload, X } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { type Status, wordFor } from "../api/codes";
import { projectsQuery } from "../api/queries";
import { useResources } from "../api/resources";
import { presentWorkspace } from "../api/workspace";
import { FilterChips } from "../filters/FilterChips";
import { FilterDialog } from "../filters/FilterDialog";
import { withFilter } from "../filters/filters";
import { formatBytes } from "../lib/format";
import { PHONE, useMedia } from "../lib/hooks";
import { placed } from "../lib/placed";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { FileIcon } from "../ui/FileIcon";
import { Menu, type MenuItem } from "../ui/Menu";
import { Picker } from "../ui/Picker";
import { openUploadDialog } from "../upload/uploads";
import { useWorkspace } from "../workspace/workspaces";
import { pendingText } from "./pending";
import { useScopeNames } from "./ScopeNote";
import { EVERYTHING, isEverything, type Scope, withDocument, withFilters, withoutDocument } from "./scope";
import { type Asked, dropWaiting, stopTurn, waitingQuestions } from "./turns";

const MOST_HEIGHT = 220;

interface ComposerProps {
  threadId?: string;
  scope: Scope;
  isBusy: boolean;
  onScope: (scope: Scope) => void;
  onSubmit: (question: string) => void;
}

export function Composer({ threadId, scope, isBusy, onScope, onSubmit }: ComposerProps): ReactNode {
  const [text, setText] = useState("");
  const [picker, setPicker] = useState<"document" | "project" | "filter" | null>(null);
  const { project, mayAdd } = useWorkspace();
  const field = useRef<HTMLTextAreaElement>(null);
  const isPhone = useMedia(PHONE);
  const offered = useStore(pendingText);

  useEffect(() => {
    if (!offered) return;
    setText(offered);
    pendingText.set("");
    field.current?.focus();
  }, [offered]);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    if (text) element.style.height = `${Math.min(element.scrollHeight, MOST_HEIGHT)}px`;
  }, [text]);
  // On a phone the focus would open the keyboard over what there is to read.
  const focused = useRef<{ threadId: string | undefined } | null>(null);
  useEffect(() => {
    if (isPhone || (focused.current && focused.current.threadId === threadId)) return;
    focused.current = { threadId };
    field.current?.focus();
  }, [threadId, isPhone]);

  const submit = (): void => {
    const question = text.trim();
    if (!question || (isBusy && !threadId)) return;
    setText("");
    onSubmit(question);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && isBusy && threadId) {
      stopTurn(threadId);
    } else if (event.key === "@" && /(?:^|\s)$/.test(text.slice(0, field.current?.selectionStart ?? 0))) {
      setPicker("document");
    }
  };
  const onPick = (id: string): void => {
    setText((present) => present.replace(/(^|\s)@$/, "$1"));
    onScope(withDocument(scope, id));
  };
  return (
    <div className="composer-frame">
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {threadId && <Waiting threadId={threadId} />}
        <ScopeChips scope={scope} onScope={onScope} />
        <textarea
          ref={field}
          dir="auto"
          rows={1}
          aria-label={t.composerLabel}
          placeholder={project ? t.composerPlaceholderIn : t.composerPlaceholder}
          value={text}
          maxLength={32_000}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-row">
          <Menu
            side="top"
            trigger={
              <button type="button" className="icon-button" aria-label={t.more}>
                <Plus size={19} aria-hidden />
              </button>
            }
            items={choices(mayAdd, project === null, setPicker)}
          />
          <span className="grow" />
          {isBusy && threadId && !text.trim() ? (
            <button type="button" className="send send-stop" aria-label={t.stop} onClick={() => stopTurn(threadId)}>
              <Square size={14} fill="currentColor" aria-hidden />
            </button>
          ) : (
            <button
              type="submit"
              className="send"
              aria-label={isBusy && threadId ? t.sendLater : t.send}
              disabled={!text.trim() || (isBusy && !threadId)}
            >
              <ArrowUp size={18} aria-hidden />
            </button>
          )}
        </div>
      </form>
      <DocumentPicker open={picker === "document"} onClose={() => setPicker(null)} onPick={onPick} next={field} />
      <ProjectPicker
        open={picker === "project"}
        onClose={() => setPicker(null)}
        onPick={(project) => onScope(withFilters({ project }, scope.filters ?? []))}
        next={field}
      />
      <FilterDialog
        open={picker === "filter"}
        present={scope.filters ?? []}
        onAdd={(filter) => onScope(withFilters(scope, withFilter(scope.filters ?? [], filter)))}
        onClose={() => setPicker(null)}
      />
    </div>
  );
}

const NONE: readonly Asked[] = [];

/** The questions that wait for their turn. */
function Waiting({ threadId }: { threadId: string }): ReactNode {
  const waiting = useStore(waitingQuestions, (all) => all[threadId] ?? NONE);
  if (!waiting.length) return null;
  return (
    <ol className="waiting-questions" aria-label={t.waitingQuestions}>
      {placed(waiting).map(({ at, item }) => (
        <li key={at} className="removable-chip">
          <span className="truncate">{item.question}</span>
          <button type="button" aria-label={t.dropQuestion(item.question)} onClick={() => dropWaiting(threadId, item)}>
            <X size={13} aria-hidden />
          </button>
        </li>
      ))}
    </ol>
  );
}

/** What the menu offers: a shared project is all that there is to choose from. */
function choices(
  mayAdd: boolean,
  hasProjects: boolean,
  pick: (picker: "document" | "project" | "filter") => void,
): MenuItem[] {
  return [
    ...(mayAdd
      ? [{ label: t.uploadFiles, icon: <Upload size={16} aria-hidden />, onSelect: () => openUploadDialog() }]
      : []),
    { label: t.tagDocument, icon: <AtSign size={16} aria-hidden />, onSelect: () => pick("document") },
    ...(hasProjects
      ? [{ label: t.pickProject, icon: <FolderOpen size={16} aria-hidden />, onSelect: () => pick("project") }]
      : []),
    { label: t.pickFilter, icon: <ListFilterPlus size={16} aria-hidden />, onSelect: () => pick("filter") },
  ];
}

function ScopeChips({ scope, onScope }: { scope: Scope; onScope: (scope: Scope) => void }): ReactNode {
  const names = useScopeNames(scope, presentWorkspace());
  const { project } = useWorkspace();
  if (isEverything(scope)) {
    return (
      <div className="scope-chips">
        <span className="muted small">
          {t.scope} {project ? t.allDocumentsIn(project.name) : t.allDocuments}
        </span>
      </div>
    );
  }
  return (
    <div className="scope-chips">
      {names.map((name, index) => (
        <span key={scope.resource_ids?.[index] ?? scope.project} className="removable-chip">
          {scope.project ? <FolderOpen size={13} aria-hidden /> : <AtSign size={13} aria-hidden />}
          <span className="truncate">{name}</span>
          <button
            type="button"
            aria-label={t.clearScope(name)}
            onClick={() =>
              onScope(
                names.length === scope.resource_ids?.length
                  ? withoutDocument(scope, scope.resource_ids[index] ?? "")
                  : withFilters(EVERYTHING, scope.filters ?? []),
              )
            }
          >
            <X size={13} aria-hidden />
          </button>
        </span>
      ))}
      <FilterChips filters={scope.filters ?? []} onFilters={(filters) => onScope(withFilters(scope, filters))} />
    </div>
  );
}

interface ScopePickerProps {
  open: boolean;
  onClose: () => void;
  onPick: (id: string) => void;
  next: RefObject<HTMLElement | null>;
}

/** What answers cannot use, for itself at least. */
const UNREAD: ReadonlySet<string> = new Set(["failed", "stored"] satisfies Status[]);

function DocumentPicker({ open, onClose, onPick, next }: ScopePickerProps): ReactNode {
  const resources = useResources(open);
  const options = (resources.data ?? []).map((resource) => ({
    id: resource.id,
    label: resource.filename,
    hint: UNREAD.has(resource.status)
      ? wordFor(t.status, resource.status)
      : (resource.identifier ?? formatBytes(resource.file_size_bytes)),
    icon: <FileIcon type={resource.type} />,
    onPick: () => onPick(resource.id),
  }));
  const words = { title: t.tagDocument, placeholder: t.findDocument };
  return <Picker open={open} onClose={onClose} next={next} options={options} {...words} />;
}

function ProjectPicker({ open, onClose, onPick, next }: ScopePickerProps): ReactNode {
  const projects = useQuery({ ...projectsQuery(), enabled: open });
  const options = (projects.data ?? []).map((project) => ({
    id: project.id,
    label: project.name,
    hint: t.files(project.resource_count),
    icon: <FolderOpen size={16} aria-hidden />,
    onPick: () => onPick(project.id),
  }));
  const words = { title: t.pickProject, placeholder: t.findProject };
  return <Picker open={open} onClose={onClose} next={next} options={options} {...words} />;
}
