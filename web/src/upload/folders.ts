// Files of a drop or of a folder, those inside folders too: in their natural order, whatever order the browser finds them in.

const names = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export interface Found {
  files: File[];
  /** How many files and folders the browser could not open. */
  unreadable: number;
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return all;
    all.push(...batch);
  }
}

async function collect(entry: FileSystemEntry, found: Found): Promise<void> {
  if (isHidden(entry.name)) return;
  try {
    if (entry.isFile) {
      found.files.push(
        await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
      );
      return;
    }
    const inside = await entriesOf(entry as FileSystemDirectoryEntry);
    for (const one of inside.sort((a, b) => names.compare(a.name, b.name))) await collect(one, found);
  } catch {
    found.unreadable += 1;
  }
}

/** Every file that was dropped, in the order of the drop, a folder's in natural order; hidden ones are left out. */
export async function droppedFiles(data: Pick<DataTransfer, "items">): Promise<Found> {
  // The list is emptied as soon as the event is over, so it is read before anything is awaited.
  const items = [...data.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = items.map((item) => item.getAsFile());
  const found: Found = { files: [], unreadable: 0 };
  for (const [index, entry] of entries.entries()) {
    const file = plain[index];
    if (entry?.isDirectory) await collect(entry, found);
    else if (file) found.files.push(file);
  }
  return found;
}

/** Files of an input without hidden ones: a selection as it was made, a folder in natural order. */
export function chosenFiles(files: Iterable<File> | null): File[] {
  const visible = [...(files ?? [])].filter((file) => !pathOf(file).some(isHidden));
  return visible.some((file) => file.webkitRelativePath) ? visible.sort(byPath) : visible;
}

const isHidden = (name: string): boolean => name.startsWith(".");
const pathOf = (file: File): string[] => (file.webkitRelativePath || file.name).split("/");

/** As a drop of the same folder finds them: folder by folder, files and folders of one folder by name. */
function byPath(one: File, other: File): number {
  const [a, b] = [pathOf(one), pathOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return names.compare(a[at] ?? "", b[at] ?? "");
}
