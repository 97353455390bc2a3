// Files that have not reached the server. A page cannot keep them over a reload, only their names and sizes, so it warns before it is left
// and says afterwards what is missing. Each page keeps a journal of its own in this browser, under its owner.
import { attempt } from "../lib/attempt";
import { createStore } from "../lib/store";

export interface UnsentFile {
  name: string;
  /** In bytes. */
  size: number;
  /** The project of somebody else that it was for; left out for one's own files. */
  workspace?: string;
}

interface Entry extends UnsentFile {
  id: string;
  /** Queued or being sent: leaving the page now would lose it. */
  isUnderWay: boolean;
}

interface Journal {
  key: string;
  files: readonly UnsentFile[];
}

const PREFIX = "citewell.unsent/";
const LAST_PAGE = "citewell.page";
const KEEP_MS = 30 * 86_400_000;
/** Without locks, a journal of another tab is taken for abandoned after a day without a change. */
const ABANDONED_MS = 86_400_000;
/** Ten thousand files are acknowledged one by one; the journal is not written as often. */
const WRITE_MS = 250;

/** Journals of this owner's pages that are gone. */
const lost = createStore<readonly Journal[]>([]);
/** What pages that are gone did not send. */
export const lostFiles = createStore<readonly UnsentFile[]>([]);
lost.subscribe(() => lostFiles.set(lost.get().flatMap(({ files }) => files)));

// `crypto.randomUUID` is there on secure origins only.
const page = `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
const previousPage = attempt(() => window.sessionStorage.getItem(LAST_PAGE));
const unsent = new Map<string, Entry>();
let underWay = 0;
const watched = new Set<string>();
let owner: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let unlock: (() => void) | null = null;

const keyOf = (whose: string, which: string): string => `${PREFIX}${whose}/${which}`;

/** Keep a journal for this owner from now on, and look for what earlier pages of theirs did not send. */
export function openJournal(whose: string): void {
  if (owner === whose) return;
  owner = whose;
  lost.set([]);
  attempt(() => window.sessionStorage.setItem(LAST_PAGE, page));
  window.addEventListener("storage", onStorage);
  window.addEventListener("pagehide", write);
  for (const key of storedKeys(PREFIX)) {
    const journal = journalAt(key);
    if (!journal || Date.now() - journal.at > KEEP_MS) attempt(() => window.localStorage.removeItem(key));
    else if (key.startsWith(keyOf(whose, "")) && key !== keyOf(whose, page)) watch(key);
  }
}

/** Note files that are to be sent, or that could not be; the server has not acknowledged them. */
export function noteUnsent(entries: readonly Entry[]): void {
  for (const entry of entries) {
    forget(entry.id);
    unsent.set(entry.id, entry);
    if (entry.isUnderWay) underWay += 1;
  }
  guard();
  write();
}

/** The server has the file, or nobody wants it sent any more. */
export function noteSettled(id: string): void {
  if (!forget(id)) return;
  guard();
  timer ??= setTimeout(write, WRITE_MS);
}

/** How many files are queued or being sent, in this page and in the owner's other tabs. */
export function countUnderWay(): number {
  if (!owner) return underWay;
  const own = keyOf(owner, page);
  const gone = new Set(lost.get().map(({ key }) => key));
  const others = storedKeys(keyOf(owner, "")).filter((key) => key !== own && !gone.has(key));
  return others.reduce((sum, key) => sum + (journalAt(key)?.files.length ?? 0), underWay);
}

/** Let the page go without a warning; its journal stays, to be shown to the same owner later. */
export function abandonUnsent(): void {
  write();
  unsent.clear();
  underWay = 0;
  owner = null;
  guard();
}

/** Forget what was not sent: it has been read. */
export function dismissLost(): void {
  for (const { key } of lost.get()) attempt(() => window.localStorage.removeItem(key));
  lost.set([]);
}

/** Strike files off the list that were chosen again; each strikes one of its name and size. */
export function strikeLost(files: readonly UnsentFile[]): void {
  const wanted = [...files];
  const rest = lost.get().map(({ key, files: listed }) => ({
    key,
    files: listed.filter(({ name, size }) => {
      const at = wanted.findIndex((file) => file.name === name && file.size === size);
      if (at >= 0) wanted.splice(at, 1);
      return at < 0;
    }),
  }));
  for (const { key, files: left } of rest) store(key, left);
  lost.set(rest.filter((journal) => journal.files.length > 0));
}

// ---- the warning ----

function onLeave(event: BeforeUnloadEvent): void {
  event.preventDefault();
  // Chromium before 119 asks only where this is set.
  event.returnValue = true;
}

function guard(): void {
  // A page that listens is not kept for the back button, so it listens only while it must.
  if (underWay) window.addEventListener("beforeunload", onLeave);
  else window.removeEventListener("beforeunload", onLeave);
}

// ---- the journal of this page ----

function forget(id: string): boolean {
  if (unsent.get(id)?.isUnderWay) underWay -= 1;
  return unsent.delete(id);
}

function write(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!owner) return;
  const files = [...unsent.values()].map(({ name, size, workspace }) => ({
    name,
    size,
    ...(workspace && { workspace }),
  }));
  // The lock says that the page lives; it is asked for before the others can see the journal.
  if (files.length) hold(keyOf(owner, page));
  store(keyOf(owner, page), files);
  if (!files.length) release();
}

function hold(key: string): void {
  if (unlock) return;
  unlock = () => undefined;
  const held = new Promise<void>((resolve) => (unlock = resolve));
  void locks()?.request(key, () => held);
}

function release(): void {
  unlock?.();
  unlock = null;
}

function store(key: string, files: readonly UnsentFile[]): void {
  attempt(() => {
    if (files.length) window.localStorage.setItem(key, JSON.stringify({ at: Date.now(), files }));
    else window.localStorage.removeItem(key);
  });
}

// ---- the journals of others ----

function onStorage({ key, newValue }: StorageEvent): void {
  if (!owner || !key?.startsWith(keyOf(owner, ""))) return;
  lost.set((all) => all.filter((journal) => journal.key !== key));
  if (newValue !== null) watch(key);
}

/** List a journal once its page is gone. */
function watch(key: string): void {
  const manager = locks();
  if (!manager) {
    const isGone =
      key === keyOf(owner ?? "", previousPage ?? "") || Date.now() - (journalAt(key)?.at ?? 0) > ABANDONED_MS;
    if (isGone) list(key);
    return;
  }
  if (watched.has(key)) return;
  watched.add(key);
  void manager.request(key, { mode: "shared" }, () => {
    watched.delete(key);
    list(key);
  });
}

function list(key: string): void {
  const journal = journalAt(key);
  if (!journal?.files.length || !owner || !key.startsWith(keyOf(owner, ""))) return;
  lost.set((all) => [...all.filter((one) => one.key !== key), { key, files: journal.files }]);
}

function storedKeys(prefix: string): string[] {
  const keys = attempt(() =>
    Array.from({ length: window.localStorage.length }, (_, index) => window.localStorage.key(index) ?? ""),
  );
  return (keys ?? []).filter((key) => key.startsWith(prefix));
}

function journalAt(key: string): { at: number; files: UnsentFile[] } | null {
  return attempt(() => {
    const value = JSON.parse(window.localStorage.getItem(key) ?? "null") as { at?: unknown; files?: unknown } | null;
    if (typeof value?.at !== "number" || !Array.isArray(value.files)) return null;
    return { at: value.at, files: (value.files as unknown[]).filter(isFile) };
  });
}

function isFile(value: unknown): value is UnsentFile {
  const { name, size, workspace = "" } = (value ?? {}) as Partial<UnsentFile>;
  return typeof name === "string" && typeof size === "number" && typeof workspace === "string";
}

/** Undefined on origins that are not secure. */
function locks(): LockManager | undefined {
  return (navigator as { locks?: LockManager }).locks;
}
