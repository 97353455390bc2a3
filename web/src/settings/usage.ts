// The ledger as what is drawn: one stacked bar per day, and one line per model.
import { USAGE_KINDS } from "../api/codes";
import type { UsageRow } from "./queries";

export type Measure = "cost" | "tokens";

export interface DayBar {
  day: string;
  total: number;
  parts: { kind: string; value: number }[];
}

export interface ModelLine {
  kind: string;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  units: number;
  cost: number;
}

const KINDS: readonly string[] = USAGE_KINDS;

export function amountOf(row: Pick<UsageRow, "cost" | "input_tokens" | "output_tokens">, measure: Measure): number {
  return measure === "cost" ? row.cost : row.input_tokens + row.output_tokens;
}

/** The days of the ledger's calendar (UTC) up to today, oldest first. */
export function lastDays(count: number, now = new Date()): string[] {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  return Array.from({ length: count }, (_, index) =>
    new Date(today - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );
}

/** One bar for every day, also for those on which nothing was spent. */
export function dayBars(rows: readonly UsageRow[], days: readonly string[], measure: Measure): DayBar[] {
  return days.map((day) => {
    const own = rows.filter((row) => row.day === day);
    const kinds = [...new Set(own.map((row) => row.kind))].sort((a, b) => KINDS.indexOf(a) - KINDS.indexOf(b));
    const parts = kinds.map((kind) => ({
      kind,
      value: own.filter((row) => row.kind === kind).reduce((sum, row) => sum + amountOf(row, measure), 0),
    }));
    return { day, total: parts.reduce((sum, { value }) => sum + value, 0), parts };
  });
}

/** What each model took in all, the dearest first. */
export function modelLines(rows: readonly UsageRow[]): ModelLine[] {
  const lines = new Map<string, ModelLine>();
  for (const row of rows) {
    const key = `${row.kind} ${row.provider} ${row.model}`;
    const known = lines.get(key) ?? {
      kind: row.kind,
      model: row.model,
      provider: row.provider,
      inputTokens: 0,
      outputTokens: 0,
      units: 0,
      cost: 0,
    };
    lines.set(key, {
      ...known,
      inputTokens: known.inputTokens + row.input_tokens,
      outputTokens: known.outputTokens + row.output_tokens,
      units: known.units + row.units,
      cost: known.cost + row.cost,
    });
  }
  return [...lines.values()].sort(
    (a, b) => b.cost - a.cost || b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens,
  );
}
