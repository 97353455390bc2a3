import { describe, expect, it } from "vitest";
import { nextInTurn, withFresh } from "../src/api/resources";
import { file } from "./library/files";

describe("nextInTurn", () => {
  it("asks about files that are being worked on, the oldest of very many", () => {
    const all = [
      file({ id: "new", status: "uploaded" }),
      file({ id: "done" }),
      file({ id: "old", status: "indexing" }),
    ];
    expect(nextInTurn(all)).toEqual(["new", "old"]);
    const many = Array.from({ length: 300 }, (_, index) => file({ id: `${index}`, status: "uploaded" }));
    expect(nextInTurn(many)).toHaveLength(100);
    expect(nextInTurn(many).at(-1)).toBe("299");
    expect(nextInTurn([file({})])).toEqual([]);
  });
});

describe("withFresh", () => {
  it("puts answers in their places, and takes out what was asked about and is gone", () => {
    const all = [file({ id: "a", status: "indexing" }), file({ id: "b", status: "uploaded" }), file({ id: "c" })];
    const fresh = withFresh(all, ["a", "b"], [file({ id: "a", status: "indexed" })]);
    expect(fresh.map(({ id, status }) => [id, status])).toEqual([
      ["a", "indexed"],
      ["c", "indexed"],
    ]);
    expect(fresh[1]).toBe(all[2]);
  });
});
