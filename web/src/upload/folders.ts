// Files of a drop, those inside folders too.

const MOST = 5_000;

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return all;
    all.push(...batch);
  }
}

async function filesOf(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length >= MOST || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    found.push(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
    return;
  }
  for (const inside of await entriesOf(entry as FileSystemDirectoryEntry)) await filesOf(inside, found);
}

/** Every file that was dropped; hidden ones are left out. */
export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  // The list is emptied as soon as the event is over, so it is read before anything is awaited.
  const items = [...data.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = items.map((item) => item.getAsFile());
  const found: File[] = [];
  for (const [index, entry] of entries.entries()) {
    const file = plain[index];
    if (entry?.isDirectory) await filesOf(entry, found);
    else if (file) found.push(file);
  }
  return found;
}

/** Files of a folder input without hidden ones. */
export function visibleFiles(files: FileList | null): File[] {
  return [...(files ?? [])].filter((file) => !file.name.startsWith("."));
}
