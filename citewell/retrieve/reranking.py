"""Reorders hits by a reranker's scores, wholly or in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.ports import Reranked
from citewell.types import Hit

NO_RERANKER = "No reranker is configured: set CITEWELL_RERANK_PROVIDER, or omit `rerank`."


def reordered(hits: Sequence[Hit], ranked: Sequence[Reranked], weight: float, least: float | None) -> list[Hit]:
    """The ranked hits, best first, without those that the reranker scores below `least`.

    With weight 1, a hit's score is the reranker's. With less, it is the weighted mean of the reranker's score and the
    previous score, both scaled to 0..1 over these hits.
    """
    kept = [item for item in ranked if least is None or item.score >= least]
    mixed = [item.score for item in kept]
    if weight < 1.0:
        given, before = _scaled(mixed), _scaled([hits[item.index].score for item in kept])
        mixed = [weight * one + (1.0 - weight) * other for one, other in zip(given, before, strict=True)]
    out = [
        replace(hits[item.index], score=score, scores=replace(hits[item.index].scores, rerank=item.score))
        for item, score in zip(kept, mixed, strict=True)
    ]
    return sorted(out, key=lambda hit: -hit.score)


def _scaled(scores: Sequence[float]) -> list[float]:
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]
