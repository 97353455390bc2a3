import { expect, it } from "vitest";
import { chosenFiles, droppedFiles } from "../../src/upload/folders";

const file = (path: string): File => {
  const made = new File(["x"], path.split("/").at(-1) ?? "");
  Object.defineProperty(made, "webkitRelativePath", { value: path.includes("/") ? path : "" });
  return made;
};

/** A folder as a browser gives it: its entries in no order, a few at a time. */
function entry(name: string, inside?: object[]): object {
  const plain = new File(["x"], name);
  if (!inside) return { name, isFile: true, isDirectory: false, file: (done: (file: File) => void) => done(plain) };
  return {
    name,
    isFile: false,
    isDirectory: true,
    createReader: () => {
      const rest = [...inside];
      return { readEntries: (done: (batch: object[]) => void) => done(rest.splice(0, 2)) };
    },
  };
}

const broken = {
  name: "locked",
  isFile: true,
  isDirectory: false,
  file: (_: unknown, fail: (error: Error) => void) => fail(new Error("locked")),
};

function drop(...entries: object[]): { items: DataTransferItemList } {
  const items = entries.map((one) => ({
    kind: "file",
    webkitGetAsEntry: () => one,
    getAsFile: () => new File(["x"], (one as { name: string }).name),
  }));
  return { items: items as unknown as DataTransferItemList };
}

it("leaves a selection in the order in which it was made", () => {
  expect(chosenFiles(["b.txt", "10.txt", "a.txt", "9.txt"].map(file)).map(({ name }) => name)).toEqual([
    "b.txt",
    "10.txt",
    "a.txt",
    "9.txt",
  ]);
  expect(chosenFiles(null)).toEqual([]);
});

it("puts a folder into natural order, folder by folder, without what is hidden at any depth", () => {
  const paths = [
    "year/q10/b.txt",
    "year/q2/page 10.txt",
    "year/.git/config",
    "year/q2/page 9.txt",
    "year/.hidden",
    "year/q2/Page 1.txt",
    "year/q1.txt",
  ];
  expect(chosenFiles(paths.map(file)).map(({ webkitRelativePath }) => webkitRelativePath)).toEqual([
    "year/q1.txt",
    "year/q2/Page 1.txt",
    "year/q2/page 9.txt",
    "year/q2/page 10.txt",
    "year/q10/b.txt",
  ]);
});

it("keeps the order of a drop, with each folder's files in natural order", async () => {
  const folder = entry("year", [
    entry("q10", [entry("b.txt")]),
    entry("q2", [entry("page 10.txt"), entry("page 9.txt"), entry(".hidden")]),
    entry("q1.txt"),
  ]);
  const found = await droppedFiles(drop(entry("z.txt"), folder, entry("a.txt")));
  expect(found.files.map(({ name }) => name)).toEqual([
    "z.txt",
    "q1.txt",
    "page 9.txt",
    "page 10.txt",
    "b.txt",
    "a.txt",
  ]);
  expect(found.unreadable).toBe(0);
});

it("takes folders however large they are, and says how many entries could not be opened", async () => {
  const many = Array.from({ length: 6_000 }, (_, index) => entry(`${index}.txt`));
  const found = await droppedFiles(drop(entry("many", [...many, broken])));
  expect(found.files).toHaveLength(6_000);
  expect(found.files.at(-1)?.name).toBe("5999.txt");
  expect(found.unreadable).toBe(1);
});
