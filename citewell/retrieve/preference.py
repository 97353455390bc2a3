"""Whether a question is likelier answered by a table or by prose, read from its vector, and what that does to the order of hits.

Hits come from both, and similarity favours prose: a table is only words without sentences. A linear model of the built-in embedder's vector
says how probable it is that a question is one for a table; `scripts/fit_table_preference.py` fits its 385 weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from citewell.ports import Fingerprint, FloatMatrix
from citewell.types import ChunkType, Hit

FILE = Path(__file__).with_name("table_preference.json")
WEIGHT = 0.3
"""What is taken from the score of a hit of the other kind, per unit of probability. From 0.2 to 0.3, page-in-five rises by 0.03 at most."""
EVEN = 0.25
"""The probability at which neither kind is preferred: that of questions for reasons, conditions and procedures."""


class _Weights(BaseModel):
    """embedder: the fingerprint of the vectors that the weights are for."""

    embedder: str
    bias: float
    weights: list[float]


@dataclass(frozen=True, slots=True)
class TablePreference:
    """The model for one embedder's vectors. weights: shape (dimensions,)."""

    weights: FloatMatrix
    bias: float

    def shift(self, vector: FloatMatrix) -> float:
        """How much tables are preferred by the question with this unit vector, shape (dimensions,); below 0, prose is."""
        chance = 1.0 / (1.0 + math.exp(-float(vector @ self.weights) - self.bias))
        return WEIGHT * (chance - EVEN)


def preference_of(embedder: Fingerprint) -> TablePreference | None:
    """The model for the built-in embedder; None for any other."""
    known, name = _read()
    return known if str(embedder) == name else None


def preferred(hits: Sequence[Hit], shift: float) -> list[Hit]:
    """The hits, best first, once the scores of tables (`shift` below 0) or of everything else are lowered by that share; unchanged where all are of one kind."""
    is_lowered = [(hit.chunk.type is ChunkType.TABLE) is (shift < 0.0) for hit in hits]
    if all(is_lowered) or not any(is_lowered):
        return list(hits)
    left = 1.0 - abs(shift)
    lowered = [replace(hit, score=hit.score * left) if low else hit for hit, low in zip(hits, is_lowered, strict=True)]
    return sorted(lowered, key=lambda hit: -hit.score)


@cache
def _read() -> tuple[TablePreference, str]:
    stored = _Weights.model_validate_json(FILE.read_bytes())
    return TablePreference(np.array(stored.weights, np.float32), stored.bias), stored.embedder
