"""Chooses among the readings of a question: a log-linear model over what each takes for granted and which words it leaves unexplained."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.agent.tables.language.evidence import QuestionEvidence
from citewell.agent.tables.language.interpretation import LESS, MORE, Interpretation
from citewell.agent.tables.language.wording import is_superlative

_OPERATORS = frozenset(
    ("not", "no", "never", "only", "same", "both", "difference", "total", "average", "mean", "combined", "between", "consecutive", "row",
     "than", "first", "last", "next", "before", "after", "previous", "following", "other", "besides",
     "except", "without", "until", "since", "above", "below", "over", "under", "up", "top", "second", "third", "each", "every", "different",
     "greater", "any", "many", "much", "or", "percent", "percentage", "all", "times", "either")
) | MORE | LESS  # fmt: skip
_YES_OR_NO = frozenset(["is", "was", "are", "were", "did", "does", "do", "has", "had", "have", "can", "could", "will"])
_FRAMES = (
    "rows",
    "count",
    "sum",
    "avg",
    "extreme",
    "most rows",
    "edge",
    "beside",
    "pair",
    "difference",
    "same",
    "exceeds",
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The likeliest answer's best reading, and how likely the answer is: in 0..1, beside all others and that none of them is meant."""

    reading: Interpretation
    confidence: float


def choose(evidence: QuestionEvidence, found: Sequence[Interpretation], weights: Mapping[str, float]) -> Chosen | None:
    """The answer that most of the probability is on, over all readings that lead to it."""
    scored = [(sum(weights.get(k, 0.0) * v for k, v in features(evidence, c).items()), c) for c in found]
    if not scored:
        return None
    total = 1.0 + sum(math.exp(score) for score, _ in scored)
    by_answer: dict[object, float] = {}
    for score, reading in scored:
        by_answer[reading.answer] = by_answer.get(reading.answer, 0.0) + math.exp(score) / total
    answer = max(by_answer, key=lambda a: by_answer[a])
    best = max((pair for pair in scored if pair[1].answer == answer), key=lambda pair: pair[0])
    return Chosen(best[1], by_answer[answer])


def features(evidence: QuestionEvidence, reading: Interpretation) -> Counter[str]:
    """The steps that the reading takes, and the kinds of words that it does not account for."""
    found = Counter(reading.steps)
    found["reading"] = 1
    left = sorted(evidence.content - reading.used)
    frame = next((step for step in reading.steps if step in _FRAMES), "rows")
    for index in left:
        text = evidence.texts[index]
        named = any(index in link.words for link in evidence.columns)
        if text in _OPERATORS or is_superlative(text):
            found["operator left"] += 1
        elif any(c.isdigit() for c in text):
            found["number left"] += 1
        elif named:
            found["column left"] += 1
        elif any(index in link.words for link in evidence.values):
            found["cell left"] += 1
        elif text.endswith("ed"):
            found["verb left"] += 1
        else:
            found["word left"] += 1
    found[f"{frame}, left"] = min(len(left), 3)
    if "all rows" in found and "noun" in found:
        found["all rows of a noun"] = 1
    if evidence.texts[0] in _YES_OR_NO and frame not in ("pair",):
        found["yes or no"] = 1
    if not left:
        found[f"{frame}, all explained"] = 1
    return found
