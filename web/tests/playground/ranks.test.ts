import { expect, it } from "vitest";
import { type Hit, legsOf, ordered, ranked } from "../../src/playground/ranks";

function hit(id: string, scores: Record<string, number>): Hit {
  return {
    chunk_id: id,
    resource_id: "r",
    filename: "f",
    type: "text",
    text: "",
    score: 1,
    scores,
    locator: {},
    label: "f",
  };
}

const HITS = [
  hit("b", { dense: 0.2, fused: 0.5, rerank: 0.9 }),
  hit("a", { dense: 0.4, lexical: 7, fused: 1, rerank: 0.3 }),
];
const TRACE = {
  timings_ms: {},
  details: {
    dense: [
      { id: "a", score: 0.4 },
      { id: "x", score: 0.3 },
      { id: "b", score: 0.2 },
    ],
    lexical: [{ id: "a", score: 7 }],
    fused: [
      { id: "a", score: 1 },
      { id: "b", score: 0.5 },
    ],
  },
};

it("tells each hit's rank before and after, and in each leg", () => {
  const [first, second] = ranked(HITS, TRACE);
  expect([first?.rank, first?.before, first?.legs]).toEqual([1, 2, { dense: 3, lexical: null }]);
  expect([second?.rank, second?.before, second?.legs]).toEqual([2, 1, { dense: 1, lexical: 1 }]);
});

it("measures bars against the best of each leg, and draws none where a leg found nothing", () => {
  expect(ranked(HITS, TRACE)[0]?.bars).toEqual({ dense: 0.5, lexical: null, fused: 0.5, rerank: 1 });
});

it("keeps bars within their track when scores are below zero", () => {
  const bars = ranked([hit("a", { dense: -0.1 }), hit("b", { dense: -0.2 })], null).map(({ bars }) => bars.dense);
  expect(bars).toEqual([0, 0]);
});

it("orders by one leg, what it did not find last", () => {
  const all = ranked(HITS, TRACE);
  expect(ordered(all, "lexical").map(({ hit }) => hit.chunk_id)).toEqual(["a", "b"]);
  expect(ordered(all, "rerank").map(({ hit }) => hit.chunk_id)).toEqual(["b", "a"]);
  expect(ordered(all, "final").map(({ hit }) => hit.chunk_id)).toEqual(["b", "a"]);
});

it("shows both legs and their fusion always, reranking where it took place", () => {
  expect(legsOf(ranked(HITS, TRACE))).toEqual(["dense", "lexical", "fused", "rerank"]);
  expect(legsOf(ranked([hit("a", { fused: 1 })], null))).toEqual(["dense", "lexical", "fused"]);
});
