// The rank of each hit in each leg, before and after reranking, and its scores on a common scale.
import type { Schemas } from "../api/client";
import { LEGS, type Leg } from "../api/codes";

export type { Leg };

export type Hit = Schemas["HitOut"];
export type Trace = Schemas["TraceOut"];
export type Order = "final" | Leg;

export interface RankedHit {
  hit: Hit;
  /** From 1, as the search returned it. */
  rank: number;
  /** From 1, in the fused list before reranking and diversifying; null where it ranked below what the trace lists. */
  before: number | null;
  /** From 1, in each leg's own list; null where the leg did not find it, or below what the trace tells. */
  legs: Record<"dense" | "lexical", number | null>;
  /** 0 to 1: of the highest score of the leg among the hits. */
  bars: Record<Leg, number | null>;
}

interface ScoredId {
  id: string;
  score: number;
}

function listOf(trace: Trace | null | undefined, leg: string): ScoredId[] {
  const list = trace?.details?.[leg];
  return Array.isArray(list) ? (list as ScoredId[]) : [];
}

function rankIn(list: readonly ScoredId[], id: string): number | null {
  const at = list.findIndex((found) => found.id === id);
  return at < 0 ? null : at + 1;
}

/** Hits with their ranks and bars, in the order of the answer. */
export function ranked(hits: readonly Hit[], trace: Trace | null | undefined): RankedHit[] {
  const lists = { dense: listOf(trace, "dense"), lexical: listOf(trace, "lexical"), fused: listOf(trace, "fused") };
  const highest = byLeg((leg) => Math.max(0, ...hits.map((hit) => hit.scores[leg] ?? 0)));
  return hits.map((hit, index) => ({
    hit,
    rank: index + 1,
    before: rankIn(lists.fused, hit.chunk_id),
    legs: { dense: rankIn(lists.dense, hit.chunk_id), lexical: rankIn(lists.lexical, hit.chunk_id) },
    bars: byLeg((leg) => share(hit.scores[leg], highest[leg])),
  }));
}

function byLeg<T>(read: (leg: Leg) => T): Record<Leg, T> {
  return { dense: read("dense"), lexical: read("lexical"), fused: read("fused"), rerank: read("rerank") };
}

function share(score: number | undefined, highest: number): number | null {
  if (score === undefined) return null;
  return highest > 0 ? Math.min(1, Math.max(0, score / highest)) : 0;
}

/** The hits as one leg alone would order them; what a leg did not find comes last. */
export function ordered(hits: readonly RankedHit[], order: Order): RankedHit[] {
  if (order === "final") return [...hits];
  const score = ({ hit }: RankedHit): number => hit.scores[order] ?? Number.NEGATIVE_INFINITY;
  return [...hits].sort((a, b) => score(b) - score(a) || a.rank - b.rank);
}

/** The legs to show: both legs and what they make together always, reranking where it took place. */
export function legsOf(hits: readonly RankedHit[]): Leg[] {
  return LEGS.filter((leg) => leg !== "rerank" || hits.some(({ hit }) => hit.scores.rerank !== undefined));
}
