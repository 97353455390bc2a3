"""Chooses among the readings of a question: a log-linear model over what speaks for each and which words it leaves unexplained."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from citewell.agent.interface import ReadingScorer
from citewell.agent.tables.language.english import in_english, nothing_in_english
from citewell.agent.tables.language.evidence import QuestionEvidence
from citewell.agent.tables.language.interpretation import Interpretation
from citewell.agent.tables.language.traits import QuestionTraits
from citewell.agent.tables.thresholds import THRESHOLDS

# Training takes these too: so many of the likeliest answers are read however unlikely they are, and what counts as no probability.
ALWAYS_SCORED = 3
MIN_SHARE, MIN_OTHER_SHARE = 1e-9, 1e-6


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


def choose(
    evidence: QuestionEvidence,
    found: Sequence[Interpretation],
    weights: Mapping[str, float],
    scorer: ReadingScorer | None = None,
    question: str = "",
) -> Chosen | None:
    """The answer that most of the probability is on, over all readings that lead to it. scorer: reads the likeliest beside the question."""
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
    chosen = _chosen(shares)
    if scorer is None or max(chosen.confidence, chosen.rows_confidence) < THRESHOLDS.scored_from:
        return chosen
    return _chosen(_scored_again(scorer, question, evidence, shares))


def _chosen(shares: Sequence[tuple[float, Interpretation]]) -> Chosen:
    best, confidence = _likeliest(shares, lambda reading: reading.answer)
    few = [pair for pair in shares if 0 < len(pair[1].rows) <= THRESHOLDS.whole_rows]
    of_rows, rows_confidence = _likeliest(few, lambda reading: reading.rows) if few else (None, 0.0)
    return Chosen(best, confidence, of_rows, rows_confidence)


def _scored_again(
    scorer: ReadingScorer, question: str, evidence: QuestionEvidence, shares: Sequence[tuple[float, Interpretation]]
) -> list[tuple[float, Interpretation]]:
    """How likely each reading is once the likeliest answers were read beside the question; readings of one answer keep their shares of it."""
    by_answer: dict[frozenset[str], list[tuple[float, Interpretation]]] = {}
    for share, reading in shares:
        by_answer.setdefault(reading.answer, []).append((share, reading))
    mass = {answer: sum(share for share, _ in same) for answer, same in by_answer.items()}
    likeliest = sorted(mass, key=lambda answer: -mass[answer])[: THRESHOLDS.scored_answers]
    shown = [a for rank, a in enumerate(likeliest) if rank < ALWAYS_SCORED or mass[a] >= THRESHOLDS.scored_share]
    told = [in_english(evidence, max(by_answer[a], key=lambda pair: pair[0])[1]) for a in shown]
    logits = scorer.score(question, [*told, nothing_in_english(evidence.grid)])
    weights, nothing = scorer.weights, max(1.0 - sum(mass.values()), 0.0)
    another = max(1.0 - nothing - sum(mass[a] for a in shown), MIN_OTHER_SHARE)
    scores = [
        weights.logit * logit + weights.prior * math.log(max(share, MIN_SHARE)) + offset
        for logit, share, offset in zip(
            [*logits, 0.0],
            [*(mass[a] for a in shown), nothing, another],
            [*(0.0 for _ in shown), weights.nothing, weights.another],
            strict=True,
        )
    ]
    highest = max(scores)
    likely = [math.exp(score - highest) for score in scores]
    rest = sum(mass.values()) - sum(mass[a] for a in shown)
    factor = dict.fromkeys(mass, likely[-1] / max(rest, MIN_SHARE))
    factor |= {a: new / max(mass[a], MIN_SHARE) for a, new in zip(shown, likely, strict=False)}
    total = likely[-2] + sum(share * factor[reading.answer] for share, reading in shares)
    return [(share * factor[reading.answer] / total, reading) for share, reading in shares]


def _likeliest(
    shares: Sequence[tuple[float, Interpretation]], key: Callable[[Interpretation], Hashable]
) -> tuple[Interpretation, float]:
    """The best reading of those with the same key that most of the probability is on, and how much that is."""
    sums: dict[Hashable, float] = {}
    for share, reading in shares:
        sums[key(reading)] = sums.get(key(reading), 0.0) + share
    likeliest = max(sums, key=lambda k: sums[k])
    return max((pair for pair in shares if key(pair[1]) == likeliest), key=lambda pair: pair[0])[1], sums[likeliest]
