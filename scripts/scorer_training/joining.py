"""How the network's scores are joined with how likely the log-linear model found each answer, and what that does to questions.

Four numbers, which `citewell.types.ScoreWeights` describes. They are fitted to tables that neither of both was: on its own tables the
network would be trusted too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from table_choice import Question, Weights, measured

from citewell.agent.tables.language.choice import MIN_SHARE
from citewell.types import ScoreWeights
from scorer_training.candidates import Case

Logits = Sequence[NDArray[np.float32]]

_STEPS, _RATE = 600, 0.03
_FADING, _FADING_SQUARES = 0.9, 0.99
_UNKNOWN = -1e9


@dataclass(frozen=True)
class Weighed(Question):
    """A question whose readings' probabilities are known already."""

    shares: Weights

    def probabilities(self, weights: Weights) -> Weights:
        """How likely each reading is, whatever the weights."""
        return self.shares


def fit_joined(cases: Sequence[Case], logits: Logits) -> ScoreWeights:
    """The numbers that make the right answers likely, by Adam on the mean loss; prints it."""
    traits, known, right = _arrays(cases, logits)
    numbers = np.array([1.0, 1.0, 0.0, 0.0])
    slopes, squares, loss = np.zeros(4), np.zeros(4), 0.0
    for step in range(1, _STEPS + 1):
        scores = np.where(known, traits @ numbers, _UNKNOWN)
        likely = np.exp(scores - scores.max(1, keepdims=True))
        likely /= likely.sum(1, keepdims=True)
        found = np.maximum((likely * right).sum(1, keepdims=True), MIN_SHARE)
        loss = float(-np.log(found).mean())
        slope = ((likely - likely * right / found)[:, :, None] * traits).sum(1).mean(0)
        slopes = _FADING * slopes + (1 - _FADING) * slope
        squares = _FADING_SQUARES * squares + (1 - _FADING_SQUARES) * slope**2
        scale = np.sqrt(squares / (1 - _FADING_SQUARES**step)) + 1e-8
        numbers -= _RATE * (1 - step / (_STEPS + 1)) * slopes / (1 - _FADING**step) / scale
    logit, prior, nothing, another = (round(float(number), 3) for number in numbers)
    print(f"joined with a loss of {loss:.4f} on {len(cases)} questions")
    return ScoreWeights(logit=logit, prior=prior, nothing=nothing, another=another)


def measured_alone(cases: Sequence[Case]) -> dict[str, object]:
    """What the log-linear model does to questions, as `table_choice.measured` tells it."""
    return _measured([_weighed(one, one.shares) for one in cases])


def measured_joined(cases: Sequence[Case], logits: Logits, weights: ScoreWeights) -> dict[str, object]:
    """The same of the network and the log-linear model together."""
    return _measured([_weighed(one, _joined_shares(one, own, weights)) for one, own in zip(cases, logits, strict=True)])


def _measured(questions: Sequence[Weighed]) -> dict[str, object]:
    return measured(questions, np.zeros(0))


def _weighed(case: Case, shares: Weights) -> Weighed:
    return Weighed(**vars(case.readings), shares=shares)


def _arrays(cases: Sequence[Case], logits: Logits) -> tuple[Weights, NDArray[np.bool_], NDArray[np.bool_]]:
    """What each of the four numbers is multiplied by, shape (cases, scores, 4), which of the scores a case has, and which are right."""
    width = max(len(one.prior) for one in cases)
    traits = np.zeros((len(cases), width, 4))
    known, right = (np.zeros((len(cases), width), np.bool_) for _ in range(2))
    for row, (one, own) in enumerate(zip(cases, logits, strict=True)):
        traits[row, : len(one.prior)] = _traits(one, own)
        known[row, : len(one.prior)], right[row, : len(one.prior)] = True, one.right
    return traits, known, right


def _traits(case: Case, logits: NDArray[np.float32]) -> Weights:
    """Logit, prior, whether it is nothing, and whether it is another answer, of each score."""
    made = np.zeros((len(case.prior), 4))
    made[:-1, 0], made[:, 1], made[-2, 2], made[-1, 3] = logits, case.prior, 1.0, 1.0
    return made


def _joined_shares(case: Case, logits: NDArray[np.float32], weights: ScoreWeights) -> Weights:
    """How likely each reading is; readings of one answer keep their shares of it."""
    scores = _traits(case, logits) @ [weights.logit, weights.prior, weights.nothing, weights.another]
    likely = np.exp(scores - scores.max())
    answer = case.readings.answer
    mass = np.bincount(answer, case.shares)
    known = [*case.answers, answer[-1]]
    rest = np.setdiff1d(np.arange(len(mass)), known)
    factor = np.zeros(len(mass))
    factor[known] = likely[:-1] / np.maximum(mass[known], MIN_SHARE)
    factor[rest] = likely[-1] / max(float(mass[rest].sum()), MIN_SHARE)
    shares = case.shares * factor[answer]
    return shares / shares.sum()
