// The steps of a search, placed in time: the two legs run side by side, all else in turn.
import type { SearchStep } from "../api/codes";

export interface Step {
  name: string;
  start: number;
  duration: number;
  lane: "both" | "dense" | "lexical";
}

const BEFORE = ["scope", "self_query"] as const satisfies readonly SearchStep[];
const DENSE = ["embed", "dense"] as const satisfies readonly SearchStep[];
const LEXICAL = ["analyse", "lexical"] as const satisfies readonly SearchStep[];
const AFTER = [
  "foreign",
  "feedback",
  "fuse",
  "codes",
  "expand",
  "threshold",
  "load",
  "diversify",
  "rerank",
] as const satisfies readonly SearchStep[];

/** Steps in the order that they begin, in milliseconds from the start; steps that this client does not know come last. */
export function stepsOf(timings: Readonly<Record<string, number>>): Step[] {
  const steps: Step[] = [];
  const lay = (names: readonly string[], from: number, lane: Step["lane"]): number => {
    let at = from;
    for (const name of names) {
      const duration = timings[name];
      if (duration === undefined) continue;
      steps.push({ name, start: at, duration, lane });
      at += duration;
    }
    return at;
  };
  const known = new Set<string>([...BEFORE, ...DENSE, ...LEXICAL, ...AFTER]);
  const begun = lay(BEFORE, 0, "both");
  const found = Math.max(lay(DENSE, begun, "dense"), lay(LEXICAL, begun, "lexical"));
  const done = lay(AFTER, found, "both");
  lay(
    Object.keys(timings).filter((name) => !known.has(name)),
    done,
    "both",
  );
  return steps;
}

/** Milliseconds until the last step has ended. */
export function totalOf(steps: readonly Step[]): number {
  return Math.max(0, ...steps.map(({ start, duration }) => start + duration));
}
