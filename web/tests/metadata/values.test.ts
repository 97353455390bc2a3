import { describe, expect, it } from "vitest";
import { type Facet, knownKeys } from "../../src/metadata/facets";
import {
  changesOf,
  emptyRow,
  type MetadataRow,
  metadataOf,
  problemsOf,
  refusedKey,
  rowsOf,
} from "../../src/metadata/values";

const row = (key: string, kind: MetadataRow["kind"], value: string): MetadataRow => ({
  ...emptyRow(),
  key,
  kind,
  value,
});
const KEPT = {
  camera: "Leica M6",
  iso: 400,
  kept: false,
  taken: "2025-06-01",
  at: "2025-06-01T07:30:00Z",
  tags: ["outdoor", "a, b"],
};

describe("rows of metadata", () => {
  it("are what is kept, and become it again", () => {
    const rows = rowsOf(KEPT);
    expect(rows.map(({ kind }) => kind)).toEqual(["text", "number", "boolean", "date", "date", "list"]);
    expect(metadataOf(rows)).toEqual(KEPT);
    expect(problemsOf(rows).size).toBe(0);
    expect(changesOf(KEPT, rows)).toEqual({});
  });

  it("leave out what was not filled in, and send what changed, and null for what is gone", () => {
    const rows = [...rowsOf(KEPT).filter(({ key }) => key !== "camera"), emptyRow(), row(" lens ", "text", " 50 mm ")];
    const changed = rows.map((one) => (one.key === "iso" ? { ...one, value: "800" } : one));
    expect(changesOf(KEPT, changed)).toEqual({ camera: null, iso: 800, lens: "50 mm" });
  });

  it("say what is wrong with them", () => {
    const rows = [
      row("", "text", "x"),
      row("iso", "number", "fast"),
      row("iso ", "number", "4"),
      row("taken", "date", "2025-13-01"),
      row("tags", "list", " ; "),
      row("camera", "text", " "),
      emptyRow(),
      row("at", "date", "2025-06-01T07:30:00+02:00"),
    ];
    expect([...problemsOf(rows).values()]).toEqual(["key", "number", "twice", "date", "value", "value"]);
  });

  it("know which key a refusal names", () => {
    expect(refusedKey({ key: "size" })).toBe("size");
    expect(refusedKey({})).toBeNull();
    expect(refusedKey({ key: 3 })).toBeNull();
  });
});

describe("the keys that files have", () => {
  it("are offered with the type and the texts that are most frequent", () => {
    const facet = (field: string, type: Facet["type"], ...values: Facet["values"][number]["value"][]): Facet => ({
      field,
      type,
      files: 1,
      distinct: values.length,
      values: values.map((value) => ({ value, files: 1 })),
    });
    const found = knownKeys([
      facet("tag", "text", "x"),
      facet("metadata.camera", "text", "Leica", "Canon"),
      facet("metadata.iso", "number", 400),
      facet("metadata.iso", "text", "fast"),
    ]);
    expect(found).toEqual([
      { key: "camera", kind: "text", values: ["Leica", "Canon"] },
      { key: "iso", kind: "number", values: [] },
    ]);
  });
});
