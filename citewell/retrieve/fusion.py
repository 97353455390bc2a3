"""Merges ranked lists into one. Pure functions of scores; ties are broken by id, so that the order is deterministic."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Mapping, Sequence
from statistics import fmean, pstdev
from typing import TypeAlias

import numpy as np

from citewell.types import ScoredId, scored

RRF_K = 60
# Decimals of a fused score. Hits that only one leg found, as its best, have equal scores, which rounding errors must not separate.
_DIGITS = 9
# A leg, the offset subtracted from each of its scores, and the factor applied afterwards.
_Scaled: TypeAlias = tuple[Sequence[tuple[str, float]], float, float]


def hybrid(
    dense: Sequence[ScoredId], lexical: Sequence[ScoredId], dense_weight: float, typical_spread: float = 0.0
) -> list[ScoredId]:
    """The default: a convex combination of dense scores, scaled by their spread, and lexical scores, scaled by the best.

    Dense scores are divided by the spread between the best and the last, or by `typical_spread` if that is larger:
    a query for which the model hardly discriminates then has little weight. BM25 has a natural zero, so only its best counts.
    If one leg found nothing, the other decides alone.
    """
    if not dense or not lexical:
        dense_weight = 1.0 if dense else 0.0
    best = max([score for _, score in lexical], default=0.0)
    by_words = (lexical, 0.0, (1.0 - dense_weight) / best) if best > 0.0 else ((), 0.0, 0.0)
    return _summed([_above_last(dense, dense_weight, typical_spread), by_words])


def convex(legs: Sequence[Sequence[ScoredId]], weights: Sequence[float]) -> list[ScoredId]:
    """Weighted sum of each leg's scores scaled to 0..1 by its own minimum and maximum; an id that a leg did not find gets 0.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2023.
    """
    return _summed([_above_last(leg, weight, 0.0) for leg, weight in zip(legs, weights, strict=True)])


def distribution_based(legs: Sequence[Sequence[ScoredId]], weights: Sequence[float]) -> list[ScoredId]:
    """As `convex`, scaled by three standard deviations around the mean instead of the extremes.

    Mazzeschi, "Distribution-Based Score Fusion", 2023.
    """
    return _summed([(_three_sigma(leg), 0.0, weight) for leg, weight in zip(legs, weights, strict=True)])


def reciprocal_rank(
    legs: Sequence[Sequence[ScoredId]], weights: Sequence[float] | None = None, k: int = RRF_K
) -> list[ScoredId]:
    """Sum of weight / (k + rank), ranks counted from 1.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", 2009.
    """
    scaled = [[(key, 1.0 / (k + rank)) for rank, (key, _) in enumerate(leg, 1)] for leg in legs]
    return _summed([(leg, 0.0, weight) for leg, weight in zip(scaled, weights or [1.0] * len(legs), strict=True)])


def judged_by_words(fused: Sequence[ScoredId], unseen: Container[str], lexical_weight: float) -> list[ScoredId]:
    """Rescore the hits in `unseen`, which only the lexical leg can find, as if that leg had all the weight.

    Their fused scores lack the dense leg's share, so they would rank below hits that both legs find.
    """
    if not 0.0 < lexical_weight < 1.0:
        return list(fused)
    return _rounded({key: score / lexical_weight if key in unseen else score for key, score in fused})


def led_by(fused: Sequence[ScoredId], named: Container[str]) -> list[ScoredId]:
    """Move the hits in `named`, whose codes the query contains, to the front, in their order and with the best score."""
    best = max((one.score for one in fused), default=0.0)
    leading = [(one.id, best) for one in fused if one.id in named]
    return scored(leading + [(one.id, one.score) for one in fused if one.id not in named])


def in_places_of(before: Sequence[ScoredId], after: Sequence[ScoredId], moved: Container[str]) -> list[ScoredId]:
    """`before`, with the ranks of moved items reassigned to those of `after`, in its order; items beyond these ranks follow.

    With nothing moved, this is `before`; with everything moved, `after`. Scores belong to the ranks.
    """
    coming = deque(one for one in after if one.id in moved)
    placed: dict[str, float] = {}
    for one in before:
        if one.id not in moved:
            placed[one.id] = one.score
            continue
        while coming and coming[0].id in placed:
            coming.popleft()
        item = coming.popleft() if coming else one
        placed.setdefault(item.id, one.score)
    last = min(placed.values(), default=None)
    for one in coming:
        placed.setdefault(one.id, one.score if last is None else min(last, one.score))
    return scored(list(placed.items()))


def ordered(scores: Mapping[str, float]) -> list[ScoredId]:
    """Best first; equal scores by id."""
    best = sorted(scores)
    best.sort(key=scores.__getitem__, reverse=True)
    return scored([(key, scores[key]) for key in best])


def _summed(legs: Sequence[_Scaled]) -> list[ScoredId]:
    total: dict[str, float] = {}
    for leg, low, factor in legs:
        if not total:
            total = {key: (score - low) * factor for key, score in leg}
            continue
        for key, score in leg:
            total[key] = total.get(key, 0.0) + (score - low) * factor
    return _rounded(total)


def _rounded(scores: Mapping[str, float]) -> list[ScoredId]:
    values = np.round(
        np.fromiter(scores.values(), np.float64, len(scores)), _DIGITS
    )  # round() would take as long as everything else
    return ordered(dict(zip(scores, values.tolist(), strict=True)))


def _above_last(leg: Sequence[ScoredId], weight: float, least_spread: float) -> _Scaled:
    """Scale scores from 0 (last) to `weight` (best); the best gets less if the spread is below `least_spread`."""
    if not leg:
        return (), 0.0, 0.0
    scores = [score for _, score in leg]
    low = min(scores)
    spread = max(max(scores) - low, least_spread)
    return (leg, low, weight / spread) if spread > 0.0 else (leg, low - 1.0, weight)


def _three_sigma(leg: Sequence[ScoredId]) -> list[tuple[str, float]]:
    if not leg:
        return []
    scores = [score for _, score in leg]
    mean, spread = fmean(scores), 3 * pstdev(scores)
    if spread == 0:
        return [(key, 1.0) for key, _ in leg]
    return [(key, min(1.0, max(0.0, (score - mean + spread) / (2 * spread)))) for key, score in leg]
