import { expect, it } from "vitest";
import { stepsOf, totalOf } from "../../src/playground/waterfall";

it("runs the legs side by side, and what follows after the slower of them", () => {
  const steps = stepsOf({ rerank: 5, lexical: 20, dense: 2, embed: 10, analyse: 1, scope: 1, fuse: 3 });
  const at = Object.fromEntries(steps.map(({ name, start }) => [name, start]));
  expect(at).toEqual({ scope: 0, embed: 1, dense: 11, analyse: 1, lexical: 2, fuse: 22, rerank: 25 });
  expect(totalOf(steps)).toBe(30);
});

it("shows steps that it does not know, at the end", () => {
  expect(stepsOf({ load: 2, later: 4 })).toEqual([
    { name: "load", start: 0, duration: 2, lane: "both" },
    { name: "later", start: 2, duration: 4, lane: "both" },
  ]);
});

it("is empty for no steps", () => {
  expect(totalOf(stepsOf({}))).toBe(0);
});
