"""Pseudo-relevance feedback: the query vector is pulled toward the best chunks of a first pass.

After Yu, Xiong and Callan, "Improving Query Representations for Dense Retrieval with Pseudo Relevance Feedback", 2021;
here each chunk pulls by the softmax of its fused score, so that one clear winner is not diluted by those below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.types import ScoredId

TEMPERATURE = 0.1


def pulls_of(best: Sequence[ScoredId], weight: float) -> tuple[tuple[str, float], ...]:
    """For `VectorQuery.pulls`: each of `best` (fused scores in 0..1, best first) with its share of `weight`."""
    strengths = [math.exp((found.score - best[0].score) / TEMPERATURE) for found in best]
    total = sum(strengths)
    return tuple((found.id, weight * strength / total) for found, strength in zip(best, strengths, strict=True))
