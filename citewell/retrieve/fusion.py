"""Several ranked lists to one. Pure functions over scores; ties are broken by id, so that the same input gives the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from citewell.types import ScoredId

RRF_K = 60


def convex(legs: Sequence[Sequence[ScoredId]], weights: Sequence[float]) -> list[ScoredId]:
    """Weighted sum of each leg's scores scaled to 0..1 by its own minimum and maximum; an id that a leg did not find gets 0.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", 2023.
    """
    return _weighted([_min_max(leg) for leg in legs], weights)


def distribution_based(legs: Sequence[Sequence[ScoredId]], weights: Sequence[float]) -> list[ScoredId]:
    """As `convex`, scaled by three standard deviations around the mean instead of the extremes.

    Mazzeschi, "Distribution-Based Score Fusion", 2023.
    """
    return _weighted([_three_sigma(leg) for leg in legs], weights)


def reciprocal_rank(
    legs: Sequence[Sequence[ScoredId]], weights: Sequence[float] | None = None, k: int = RRF_K
) -> list[ScoredId]:
    """Sum of weight / (k + rank), ranks counted from 1.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", 2009.
    """
    scaled = [{found.id: 1.0 / (k + rank) for rank, found in enumerate(leg, 1)} for leg in legs]
    return _weighted(scaled, weights or [1.0] * len(legs))


def ordered(scores: Mapping[str, float]) -> list[ScoredId]:
    """Best first; equal scores by id."""
    return [ScoredId(key, score) for key, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]


def _weighted(legs: Sequence[Mapping[str, float]], weights: Sequence[float]) -> list[ScoredId]:
    total: dict[str, float] = {}
    for leg, weight in zip(legs, weights, strict=True):
        for key, score in leg.items():
            total[key] = total.get(key, 0.0) + weight * score
    return ordered(total)


def _min_max(leg: Sequence[ScoredId]) -> dict[str, float]:
    if not leg:
        return {}
    high, low = max(found.score for found in leg), min(found.score for found in leg)
    if high == low:
        return {found.id: 1.0 for found in leg}
    return {found.id: (found.score - low) / (high - low) for found in leg}


def _three_sigma(leg: Sequence[ScoredId]) -> dict[str, float]:
    if not leg:
        return {}
    scores = [found.score for found in leg]
    mean, spread = fmean(scores), 3 * pstdev(scores)
    if spread == 0:
        return {found.id: 1.0 for found in leg}
    return {found.id: min(1.0, max(0.0, (found.score - mean + spread) / (2 * spread))) for found in leg}
