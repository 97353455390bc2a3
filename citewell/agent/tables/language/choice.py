"""Chooses among the readings of a question: a log-linear model over what speaks for each and which words it leaves unexplained."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from citewell.agent.tables.language.evidence import QuestionEvidence
from citewell.agent.tables.language.interpretation import Interpretation
from citewell.agent.tables.language.traits import QuestionTraits
from citewell.agent.tables.thresholds import THRESHOLDS


@dataclass(frozen=True, slots=True)
class Chosen:
    """The likeliest answer's best reading, and how likely the answer is: in 0..1, beside all others and that none of them is meant.

    of_rows: the best reading of the likeliest rows, whatever is asked of them, None where no reading has few enough rows;
    rows_confidence: how likely these rows are.
    """

    reading: Interpretation
    confidence: float
    of_rows: Interpretation | None = None
    rows_confidence: float = 0.0


@cache
def reading_weights() -> Mapping[str, float]:
    """Log-odds of what speaks for a reading, by name; `benchmarks/table_choice.py` fits them, `docs/algorithms/tables.md` says to what."""
    text = files(__package__ or "").joinpath("reading_weights.json").read_text(encoding="utf-8")
    return cast("dict[str, float]", json.loads(text))


def choose(evidence: QuestionEvidence, found: Sequence[Interpretation], weights: Mapping[str, float]) -> Chosen | None:
    """The answer that most of the probability is on, over all readings that lead to it."""
    if not found:
        return None
    traits = QuestionTraits(evidence, found)
    sums: dict[Hashable, float] = {}

    def weight(key: Hashable, names: Sequence[str]) -> float:
        if key not in sums:
            sums[key] = sum(weights.get(name, 0.0) for name in names)
        return sums[key]

    nothing = sum(weight(*group) for group in traits.nothing())
    scored = [(sum(weight(*group) for group in traits.groups(reading)), reading) for reading in found]
    highest = max(nothing, max(score for score, _ in scored))
    total = math.exp(nothing - highest) + sum(math.exp(score - highest) for score, _ in scored)
    shares = [(math.exp(score - highest) / total, reading) for score, reading in scored]
    best, confidence = _likeliest(shares, lambda reading: reading.answer)
    few = [pair for pair in shares if 0 < len(pair[1].rows) <= THRESHOLDS.whole_rows]
    of_rows, rows_confidence = _likeliest(few, lambda reading: reading.rows) if few else (None, 0.0)
    return Chosen(best, confidence, of_rows, rows_confidence)


def _likeliest(
    shares: Sequence[tuple[float, Interpretation]], key: Callable[[Interpretation], Hashable]
) -> tuple[Interpretation, float]:
    """The best reading of those with the same key that most of the probability is on, and how much that is."""
    sums: dict[Hashable, float] = {}
    for share, reading in shares:
        sums[key(reading)] = sums.get(key(reading), 0.0) + share
    likeliest = max(sums, key=lambda k: sums[k])
    return max((pair for pair in shares if key(pair[1]) == likeliest), key=lambda pair: pair[0])[1], sums[likeliest]
