// The steps of a search, placed in time, each after the one before.
export interface Step {
  name: string;
  start: number;
  duration: number;
}

const ORDER = ["scope", "self_query", "embed", "analyse", "legs", "feedback", "fuse", "expand", "load", "diversify", "rerank"];

/** Steps in the order that they begin, in milliseconds from the start; steps that this client does not know come last. */
export function stepsOf(timings: Readonly<Record<string, number>>): Step[] {
  const unknown = Object.keys(timings).filter((name) => !ORDER.includes(name));
  let at = 0;
  return [...ORDER, ...unknown].flatMap((name) => {
    const duration = timings[name];
    if (duration === undefined) return [];
    const step = { name, start: at, duration };
    at += duration;
    return [step];
  });
}

/** Milliseconds until the last step has ended. */
export function totalOf(steps: readonly Step[]): number {
  return Math.max(0, ...steps.map(({ start, duration }) => start + duration));
}
