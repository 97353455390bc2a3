"""Pseudo-relevance feedback: the query vector is pulled towards the best chunks of a first pass.

After Yu, Xiong and Callan, "Improving Query Representations for Dense Retrieval with Pseudo Relevance Feedback", 2021;
here each chunk pulls by the softmax of its fused score, so that one clear winner is not diluted by those behind it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from citewell.ports import FloatMatrix
from citewell.types import ScoredId

TEMPERATURE = 0.1


def pulled_query(
    query: FloatMatrix, best: Sequence[ScoredId], vectors: Mapping[str, FloatMatrix], weight: float
) -> FloatMatrix | None:
    """The unit vector between `query`, shape (dimensions,), and the weighted mean of the best chunks' vectors.

    best: fused scores in 0..1, best first. None when none of them has a vector.
    """
    known = [found for found in best if found.id in vectors]
    if not known:
        return None
    pulls = np.array([math.exp((found.score - known[0].score) / TEMPERATURE) for found in known], dtype=np.float32)
    mean = (pulls / pulls.sum()) @ np.stack([vectors[found.id] for found in known])
    moved = query + np.float32(weight) * mean
    length = float(np.linalg.norm(moved))
    return (moved / length).astype(np.float32) if length > 0.0 else None
