"""Chooses among the readings of a question: a log-linear model over what speaks for each and which words it leaves unexplained."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from citewell.agent.tables.language.evidence import QuestionEvidence
from citewell.agent.tables.language.interpretation import Interpretation
from citewell.agent.tables.language.traits import QuestionTraits


@dataclass(frozen=True, slots=True)
class Chosen:
    """The likeliest answer's best reading, and how likely the answer is: in 0..1, beside all others and that none of them is meant."""

    reading: Interpretation
    confidence: float


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
    by_answer: dict[frozenset[str], float] = {}
    for score, reading in scored:
        by_answer[reading.answer] = by_answer.get(reading.answer, 0.0) + math.exp(score - highest) / total
    answer = max(by_answer, key=lambda a: by_answer[a])
    best = max((pair for pair in scored if pair[1].answer == answer), key=lambda pair: pair[0])
    return Chosen(best[1], by_answer[answer])
