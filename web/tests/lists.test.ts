import { describe, expect, it } from "vitest";
import { groupByDay } from "../src/chat/days";
import { EVERYTHING, isEverything, scopeOf, withDocument, withoutDocument } from "../src/chat/scope";
import {
  formatAgo,
  formatBytes,
  formatDay,
  formatDollars,
  formatDuration,
  formatPercent,
  languageName,
} from "../src/lib/format";
import { t } from "../src/strings";
import { matching, type PickerOption } from "../src/ui/Picker";

describe("threads", () => {
  it("are listed under the day of their last use", () => {
    const now = new Date(2026, 10, 21, 9, 0);
    const thread = (id: string, date: Date) => ({
      id,
      title: id,
      scope: {},
      created_at: "",
      updated_at: date.toISOString(),
    });
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
      "Today",
      "a",
      "Yesterday",
      "b",
      "Previous 7 days",
      "c",
      "d",
      "Earlier",
      "e",
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
  it("say sizes as people do", () => {
    const sizes: [number, string][] = [
      [0, "0 bytes"],
      [1, "1 byte"],
      [997, "997 bytes"],
      [1_000, "1 kB"],
      [46_730, "47 kB"],
      [999_499, "999 kB"],
      [999_500, "1 MB"],
      [5_300_000, "5.3 MB"],
      [2_000_000_000, "2 GB"],
      [2e15, "2,000 TB"],
    ];
    for (const [bytes, words] of sizes) expect(formatBytes(bytes)).toBe(words);
  });

  it("are English in English sentences, whatever the browser speaks", () => {
    expect(t.files(1_234)).toBe("1,234 files");
    expect(t.files(1)).toBe("1 file");
    expect(t.files(0)).toBe("0 files");
    expect(t.unitCount("sheet", 3)).toBe("3 sheets");
    expect(t.uploadsFailed(1)).toBe("1 file needs attention");
    expect(formatAgo("2026-11-21T08:00:00Z", Date.parse("2026-11-21T10:30:00Z"))).toBe("2 hours ago");
    expect(formatDay("2026-11-21T12:00:00Z")).toBe("21 Nov 2026");
    expect(formatPercent(0.93)).toBe("93%");
    expect(formatDollars(1_234.5)).toBe("$1,234.50");
    expect([8.54, 412.4, 1_500, 90_000].map(formatDuration)).toEqual(["8.5 ms", "412 ms", "1.5 s", "1.5 min"]);
    expect(languageName("de")).toBe("German");
    expect(languageName("not a language")).toBe("not a language");
  });
});
