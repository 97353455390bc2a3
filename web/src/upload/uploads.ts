// Files on their way: bytes by XMLHttpRequest (which alone tells how many have gone), stages by the resource's events.
import {
  ApiError,
  api,
  csrfHeaders,
  errorOf,
  noteProjectStatus,
  request,
  type Schemas,
  signedInAs,
  unwrap,
} from "../api/client";
import { isFinal } from "../api/codes";
import { readLines } from "../api/ndjson";
import { queryClient } from "../api/queries";
import { newestQuery, putResource, readAgainSoon } from "../api/resources";
import { renewSession } from "../api/session";
import { presentWorkspace, projectHeaders, type WorkspaceId } from "../api/workspace";
import { createStore } from "../lib/store";
import { type Metadata, type MetadataRow, metadataOf, refusedKey } from "../metadata/values";
import { t } from "../strings";
import { noteSettled, noteUnsent, strikeLost } from "./unsent";

export interface UploadOptions {
  project: string;
  identifier: string;
  password: string;
  multimodal: boolean;
  extractTables: boolean;
  extractImages: boolean;
  metadata: readonly MetadataRow[];
}

type Ingested = Schemas["IngestedOut"];
/** What was done for a file that was there already. */
export type KnownOutcome = Exclude<Ingested["outcome"], "created">;

/** What the server said against the details of a file: the key of metadata (or `identifier`) that it is about, if any. */
export interface Problem {
  code: string;
  message: string;
  key?: string | null;
}

export interface Upload {
  id: string;
  /** Whose file it is: it goes to no other owner's library. */
  owner: string;
  /** Where it goes: the workspace that it was chosen in, whatever is shown meanwhile. */
  workspace: WorkspaceId;
  /** Files are sent in the order in which they were chosen. */
  order: number;
  file: File;
  name: string;
  options: UploadOptions;
  /** `queued`, `sending`, then the states of a resource. */
  status: string;
  sent: number;
  resourceId?: string;
  /** When each stage began, in milliseconds, for the timeline. */
  stages: { status: string; at: number }[];
  problem?: Problem;
  /** What was done for a file whose bytes are in the library already. */
  known?: KnownOutcome;
}

export const DEFAULT_OPTIONS: UploadOptions = {
  project: "",
  identifier: "",
  password: "",
  multimodal: false,
  extractTables: true,
  extractImages: true,
  metadata: [],
};

const AT_ONCE = 3;
const RECONNECT_MS = 1_500;

export const uploads = createStore<readonly Upload[]>([]);
/** `workspace`: where the files go. `again`: the details of a file that the server has refused for them, to be changed. */
export const uploadDialog = createStore<{
  open: boolean;
  files: File[];
  workspace: WorkspaceId;
  again?: { options: UploadOptions; problem: Problem };
}>({ open: false, files: [], workspace: null });
const requests = new Map<string, XMLHttpRequest>();
let made = 0;

/** More files for the dialog that is open, or a new one, unless said otherwise for the workspace that is shown. */
export function openUploadDialog(files: File[] = [], workspace = presentWorkspace()): void {
  uploadDialog.set((present) => ({ open: true, files, workspace: present.open ? present.workspace : workspace }));
}

export function closeUploadDialog(): void {
  uploadDialog.set(({ workspace }) => ({ open: false, files: [], workspace }));
}

export function isOver(upload: Upload): boolean {
  return isFinal(upload.status);
}

/** Whether a person has to do something about it. */
export function needsAttention(upload: Upload): boolean {
  return upload.status === "failed" || upload.status === "partial";
}

/** Put files in the queue; they go up a few at a time, in the order given. */
export function addUploads(
  files: readonly File[],
  options: UploadOptions,
  workspace: WorkspaceId = presentWorkspace(),
): void {
  const owner = signedInAs();
  if (owner === null) return;
  const fresh = files.map((file): Upload => {
    made += 1;
    return {
      id: `u${made}`,
      owner,
      workspace,
      order: made,
      file,
      name: file.name,
      options,
      status: "queued",
      sent: 0,
      stages: [],
    };
  });
  strikeLost(files);
  noteUnsent(fresh.map((upload) => entryOf(upload, true)));
  uploads.set((all) => [...fresh, ...all]);
  pump();
}

/** Go on with what waits, after signing in again. */
export function resumeUploads(): void {
  pump();
}

/** Whether a file was refused for what was said of it, and not for what it is. */
export function isAboutDetails({ problem, resourceId }: Upload): boolean {
  return resourceId === undefined && (problem?.code === "invalid_metadata" || problem?.code === "conflict");
}

/** Open the dialog with a refused file and its details, and say there what is wrong. */
export function changeDetails(id: string): void {
  const present = uploads.get().find((upload) => upload.id === id);
  if (!present?.problem) return;
  uploadDialog.set({
    open: true,
    files: [present.file],
    workspace: present.workspace,
    again: { options: present.options, problem: present.problem },
  });
  cancelUpload(id);
}

/** Send a failed upload again, with a password if one is given. */
export function retryUpload(id: string, password?: string): void {
  const present = uploads.get().find((upload) => upload.id === id);
  if (!present) return;
  const options = password === undefined ? present.options : { ...present.options, password };
  noteUnsent([entryOf(present, true)]);
  change(id, { status: "queued", sent: 0, stages: [], options }, ["problem", "resourceId", "known"]);
  pump();
}

export function cancelUpload(id: string): void {
  requests.get(id)?.abort();
  noteSettled(id);
  uploads.set((all) => all.filter((upload) => upload.id !== id));
  pump();
}

export function clearFinished(): void {
  for (const upload of uploads.get()) if (isOver(upload)) noteSettled(upload.id);
  uploads.set((all) => all.filter((upload) => !isOver(upload)));
}

function change(id: string, values: Partial<Upload>, remove: (keyof Upload)[] = []): void {
  uploads.set((all) =>
    all.map((upload) => {
      if (upload.id !== id) return upload;
      const next = { ...upload, ...values };
      for (const key of remove) delete next[key];
      return next;
    }),
  );
}

function entryOf({ id, name, file, workspace }: Upload, isUnderWay: boolean) {
  return { id, name, size: file.size, isUnderWay, ...(workspace !== null && { workspace }) };
}

/** Start what may be started. Nothing is, unless the owner of the files is signed in. */
function pump(): void {
  for (let next = nextInQueue(); next; next = nextInQueue()) void run(next);
}

function nextInQueue(): Upload | undefined {
  let [sending, next] = [0, undefined as Upload | undefined];
  for (const upload of uploads.get()) {
    if (upload.status === "sending") sending += 1;
    else if (upload.status === "queued" && upload.owner === signedInAs() && upload.order < (next?.order ?? Infinity))
      next = upload;
  }
  return sending < AT_ONCE ? next : undefined;
}

async function run(upload: Upload): Promise<void> {
  change(upload.id, { status: "sending" });
  const session = csrfHeaders();
  try {
    const { outcome, ...resource } = await send(upload);
    noteSettled(upload.id);
    change(upload.id, { resourceId: resource.id, status: resource.status, sent: upload.file.size });
    if (outcome !== "created") change(upload.id, { known: outcome });
    pump();
    putResource(resource, upload.workspace);
    void queryClient.invalidateQueries({ queryKey: newestQuery(upload.workspace).queryKey });
    await follow(upload, resource.id);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    if (await isWorthRepeating(error, session)) {
      change(upload.id, { status: "queued", sent: 0 });
      return;
    }
    if (uploads.get().some(({ id, resourceId }) => id === upload.id && !resourceId))
      noteUnsent([entryOf(upload, false)]);
    const problem =
      error instanceof ApiError
        ? { code: error.code, message: error.message, key: keyOfProblem(error, upload) }
        : { code: "connection", message: t.noConnection };
    change(upload.id, { status: "failed", problem });
  } finally {
    requests.delete(upload.id);
    pump();
    void queryClient.invalidateQueries({ queryKey: newestQuery(upload.workspace).queryKey });
    readAgainSoon();
    void queryClient.invalidateQueries({ queryKey: ["projects"] });
    void queryClient.invalidateQueries({ queryKey: ["suggestions"] });
    void queryClient.invalidateQueries({ queryKey: ["facets"] });
  }
}

/** What a refusal is about: a conflict can only be about the identifier. */
function keyOfProblem(error: ApiError, { options }: Upload): string | null {
  return error.code === "conflict" && options.identifier ? "identifier" : refusedKey(error.details);
}

/** Whether a file was turned away for the session's sake: it waits until its owner is signed in again, or goes up with their newer token. */
async function isWorthRepeating(error: unknown, session: Readonly<Record<string, string>>): Promise<boolean> {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 401) return true;
  if (error.code !== "foreign_request" || !(await renewSession().catch(() => false))) return false;
  return csrfHeaders()["X-CSRF-Token"] !== session["X-CSRF-Token"];
}

function form({ file, name, options }: Upload): FormData {
  const data = new FormData();
  if (options.project) data.set("project", options.project);
  if (options.identifier) data.set("identifier", options.identifier);
  const metadata: Metadata = metadataOf(options.metadata);
  if (Object.keys(metadata).length) data.set("metadata", JSON.stringify(metadata));
  if (options.password) data.set("password", options.password);
  // Left out, it stays as a known file has it: what a model described is not thrown away.
  if (options.multimodal) data.set("multimodal", "true");
  data.set("extract_tables", String(options.extractTables));
  data.set("extract_images", String(options.extractImages));
  data.set("file", file, name);
  return data;
}

function send(upload: Upload): Promise<Ingested> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    requests.set(upload.id, xhr);
    xhr.open("POST", "/ingest");
    const headers = { ...csrfHeaders(), ...projectHeaders("POST", "/ingest", upload.workspace) };
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.responseType = "json";
    xhr.upload.onprogress = (event) => change(upload.id, { sent: Math.min(event.loaded, upload.file.size) });
    xhr.onload = () => {
      const body: unknown = xhr.response;
      if (upload.workspace !== null) noteProjectStatus(xhr.status);
      if (xhr.status === 200 || xhr.status === 201) resolve(body as Ingested);
      else reject(errorOf(body, xhr.status));
    };
    xhr.onerror = () => reject(new TypeError("the connection broke off"));
    xhr.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    xhr.send(form(upload));
  });
}

interface StageEvent {
  status: string;
  at: number;
}

/** Follow the stages to the end, over broken connections, restarts of the server and sessions that end. */
async function follow({ id, owner, workspace }: Upload, resourceId: string): Promise<void> {
  for (;;) {
    try {
      if (signedInAs() !== owner) throw new TypeError("nobody may ask now");
      const { body } = await request(`/resources/${encodeURIComponent(resourceId)}/events`);
      const stages: Upload["stages"] = [];
      for await (const line of readLines(body)) {
        const { status, at } = line as StageEvent;
        stages.push({ status, at: at * 1_000 });
        if (!isFinal(status)) change(id, { status, stages: [...stages] });
      }
      const resource = await unwrap(
        api.GET("/resources/{resource_id}", { params: { path: { resource_id: resourceId } } }),
      );
      if (!isFinal(resource.status)) continue;
      putResource(resource, workspace);
      const problem = resource.error_message
        ? { code: resource.error_code ?? "", message: resource.error_message }
        : undefined;
      change(id, { status: resource.status, stages, ...(problem && { problem }) });
      return;
    } catch (error) {
      // 429: as many files are followed at once as may be.
      if (error instanceof ApiError && error.status !== 401 && error.status !== 429) throw error;
      if (!uploads.get().some((upload) => upload.id === id)) return;
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }
}
