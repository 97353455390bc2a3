import { describe, expect, it } from "vitest";
import { groupByDay } from "../src/chat/days";
import { EVERYTHING, isEverything, scopeOf, withDocument, withoutDocument } from "../src/chat/scope";
import { formatAgo, formatBytes } from "../src/lib/format";
import { type PickerOption, matching } from "../src/ui/Picker";

describe("threads", () => {
  it("stand under the day they were last used on", () => {
    const now = new Date(2026, 10, 21, 9, 0);
    const thread = (id: string, date: Date) => ({ id, title: id, scope: {}, created_at: "", updated_at: date.toISOString() });
    const rows = groupByDay(
      [
        thread("a", new Date(2026, 10, 21, 0, 1)),
        thread("b", new Date(2026, 10, 20, 23, 59)),
        thread("c", new Date(2026, 10, 15)),
        thread("d", new Date(2026, 10, 15)),
        thread("e", new Date(2025, 1, 1)),
      ],
      now,
    );
    expect(rows.map((row) => ("heading" in row ? row.heading : row.thread.id))).toEqual([
      "Today", "a", "Yesterday", "b", "Previous 7 days", "c", "d", "Earlier", "e",
    ]);
  });
});

describe("the scope", () => {
  it("grows by documents, in place of a project, and shrinks back to everything", () => {
    const two = withDocument(withDocument({ project: "p" }, "a"), "b");
    expect(two).toEqual({ resource_ids: ["a", "b"] });
    expect(withDocument(two, "a")).toEqual(two);
    expect(isEverything(withoutDocument(withoutDocument(two, "a"), "b"))).toBe(true);
    expect(scopeOf({})).toBe(EVERYTHING);
  });
});

describe("the picker", () => {
  const option = (label: string): PickerOption => ({ id: label, label, onPick: () => undefined });
  it("finds every word, what begins with the first one first", () => {
    const options = ["The loan policy", "Loan Policy.pdf", "Policy"].map(option);
    expect(matching(options, "loan pol").map(({ label }) => label)).toEqual(["Loan Policy.pdf", "The loan policy"]);
    expect(matching(options, "")).toHaveLength(3);
  });
});

describe("formats", () => {
  it("say sizes and times as people do", () => {
    expect(formatBytes(0)).toMatch(/^0/);
    expect(formatBytes(46_730)).toMatch(/^47/);
    expect(formatBytes(5_300_000)).toMatch(/^5.3/);
    expect(formatAgo("2026-11-21T08:00:00Z", Date.parse("2026-11-21T10:30:00Z"))).toMatch(/2/);
  });
});
