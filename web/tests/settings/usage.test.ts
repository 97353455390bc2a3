import { expect, it } from "vitest";
import { readFingerprint } from "../../src/settings/fingerprint";
import type { UsageRow } from "../../src/settings/queries";
import { dayBars, lastDays, modelLines } from "../../src/settings/usage";

function row(part: Partial<UsageRow>): UsageRow {
  return {
    day: "2026-03-02",
    kind: "chat",
    provider: "openai",
    model: "m",
    input_tokens: 10,
    output_tokens: 5,
    units: 1,
    cost: 0.5,
    ...part,
  };
}

it("counts days by the ledger's calendar, over the end of a month", () => {
  expect(lastDays(3, new Date("2026-03-01T23:59:00Z"))).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
});

it("has a bar for every day, stacked by kind", () => {
  const rows = [row({}), row({ model: "other" }), row({ kind: "embedding", cost: 0.1 })];
  const [empty, full] = dayBars(rows, ["2026-03-01", "2026-03-02"], "cost");
  expect(empty).toEqual({ day: "2026-03-01", total: 0, parts: [] });
  expect(full?.parts).toEqual([
    { kind: "chat", value: 1 },
    { kind: "embedding", value: 0.1 },
  ]);
  expect(full?.total).toBeCloseTo(1.1);
  expect(dayBars(rows, ["2026-03-02"], "tokens")[0]?.total).toBe(45);
});

it("adds up each model over the days, the dearest first", () => {
  const lines = modelLines([
    row({ cost: 0.1 }),
    row({ day: "2026-03-01", cost: 0.1 }),
    row({ model: "dear", cost: 3 }),
  ]);
  expect(lines.map(({ model, cost, units, inputTokens }) => [model, cost, units, inputTokens])).toEqual([
    ["dear", 3, 1, 10],
    ["m", 0.2, 2, 20],
  ]);
});

it("reads fingerprints, also of models whose names hold slashes", () => {
  expect(readFingerprint("builtin/all-MiniLM-L6-v2/384@39fd")).toEqual({
    provider: "builtin",
    model: "all-MiniLM-L6-v2",
    dimensions: 384,
    revision: "39fd",
  });
  expect(readFingerprint("fastembed/BAAI/bge-small/512@1").model).toBe("BAAI/bge-small");
  expect(readFingerprint("odd")).toEqual({ provider: "odd", model: "odd", dimensions: null, revision: "" });
});
