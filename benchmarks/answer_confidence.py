"""Fits the weights by which an answer is told from none where no statement was read (`score_sure` … `sure` of `ExtractiveThresholds`).

    python benchmarks/answer_confidence.py SET TURNS.jsonl PARAGRAPHS.jsonl

SET and TURNS.jsonl are those of `conversations.py abstain`; PARAGRAPHS.jsonl (id, text, questions with their answers) is that of `answers.py
short`. What is fitted to:

turns:      of conversations, which can and cannot be answered from the set
paragraphs: the questions, each with the passages that a search finds and again without the one that answers
strangers:  questions of either kind with passages of the other

What each of them weighs is in SHARES; questions with and without an answer weigh alike in each. A logistic regression with an L2 penalty over standardised features
is fitted in six folds by conversation and by paragraph. Printed are, for thresholds, the F1 of abstention over the turns of the folds left
out, how many answerable turns and questions on paragraphs are refused there, and the weights fitted to all.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import conversations
import numpy as np
import sets
from numpy.typing import NDArray

from citewell import Citewell
from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.extractive import answerer as answers
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.confidence import AnswerEvidence
from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.understand.rephrase import Rephrased
from citewell.types import Hit

FOLDS = 6
PENALTY = 2.0
STEPS = 50
SHARES = {"turns": 0.3, "paragraphs": 0.6, "strangers": 0.1}
THRESHOLDS = tuple(n / 100 for n in range(10, 42, 2))
FEATURES = ("score", "passage", "own", "held", "agreed", "whether")
"""Fields of `AnswerEvidence` that are weighed without a reader."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """What speaks for an answer, and whether there is one; `kind` is a key of SHARES, `group` what is never split between folds."""

    kind: str
    group: str
    evidence: tuple[float, ...]
    answerable: bool

    @property
    def fold(self) -> int:
        """One of FOLDS."""
        return hashlib.md5(self.group.encode(), usedforsecurity=False).digest()[0] % FOLDS


class EvidenceReader:
    """Reads the evidence that the answerer itself weighs."""

    def __init__(self, embedder: BuiltinEmbedder) -> None:
        self._answerer = ExtractiveAnswerer(embedder)
        self._seen: list[AnswerEvidence] = []
        weigh = answers.weigh

        def weigh_and_keep(evidence: AnswerEvidence, limits: ExtractiveThresholds) -> float:
            self._seen.append(evidence)
            return weigh(evidence, limits)

        answers.weigh = weigh_and_keep

    async def read(self, question: str, hits: Sequence[Hit], message: str) -> tuple[float, ...] | None:
        """The evidence in the order of FEATURES; None where no statement could answer, which is no matter of weights."""
        self._seen.clear()
        await self._answerer.answer(question, hits, message=message)
        return tuple(float(getattr(self._seen[0], name)) for name in FEATURES) if self._seen else None


async def examples(folder: Path, turns: Path, paragraphs: Path) -> list[Example]:
    """All examples; those of strangers ask one library what was written for the other."""
    embedder = BuiltinEmbedder.load()
    reader = EvidenceReader(embedder)
    made: list[Example] = []

    async def add(kind: str, group: str, asked: str, message: str, hits: Sequence[Hit], answerable: bool) -> None:
        evidence = await reader.read(asked, hits, message)
        if evidence is not None:
            made.append(Example(kind, group, evidence, answerable))

    rows = conversations.read_lines(paragraphs)
    with (
        tempfile.TemporaryDirectory() as first,
        tempfile.TemporaryDirectory() as second,
        Citewell(first) as talks,
        Citewell(second) as texts,
    ):
        talks.add_texts(sets.load(folder).records())
        texts.add_texts([{"id": row["id"], "text": row["text"]} for row in rows])
        for turn in conversations.read_lines(turns):
            if turn["expected_behaviour"] in ("ask_clarification", "no_retrieval"):
                continue
            asked = conversations.standalone(turn["last_user"], conversations.thread(turn["history"]))
            message, group = " ".join(turn["last_user"].split()), turn["id"].split("<::>")[0]
            refuse = turn["expected_behaviour"] == "retrieve_then_refuse"
            found = conversations.find(talks, asked)
            await add("turns", group, asked.question, message, found, not refuse)
            if asked.question == message:
                await add(
                    "strangers",
                    group,
                    message,
                    message,
                    conversations.find(texts, Rephrased(message, (message,))),
                    False,
                )
        for row in rows:
            for n, one in enumerate(row["questions"]):
                question = one["question"]
                found = texts.search(question, conversations.DEPTH)
                without = [hit for hit in found if hit.record_id != row["id"]][: conversations.TOP_K]
                await add("paragraphs", row["id"], question, question, found[: conversations.TOP_K], True)
                await add("paragraphs", row["id"], question, question, without, False)
                if n == 0:
                    strange = conversations.find(talks, Rephrased(question, (question,)))
                    await add("strangers", row["id"], question, question, strange, False)
    await embedder.aclose()
    return made


def weighted(chosen: Sequence[Example]) -> Floats:
    """A weight for each: SHARES for the kinds, half of it for those with an answer where a kind has both; 1 in the mean."""
    counts: dict[tuple[str, bool], int] = {}
    for one in chosen:
        counts[one.kind, one.answerable] = counts.get((one.kind, one.answerable), 0) + 1
    halves = {kind: 0.5 if {(kind, True), (kind, False)} <= set(counts) else 1.0 for kind in SHARES}
    each = [SHARES[one.kind] * halves[one.kind] / counts[one.kind, one.answerable] for one in chosen]
    return np.array(each) * len(chosen) / sum(each)


def fit(chosen: Sequence[Example]) -> Floats:
    """Weights of the features as they are, and the constant last: Newton's method."""
    features = np.array([one.evidence for one in chosen])
    mean, spread = features.mean(axis=0), features.std(axis=0)
    columns = np.hstack([(features - mean) / spread, np.ones((len(chosen), 1))])
    truth, weight = np.array([one.answerable for one in chosen], dtype=float), weighted(chosen)
    ridge = np.diag([PENALTY] * features.shape[1] + [0.0])
    found = np.zeros(columns.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weight * (likely - truth)) + ridge @ found
        curve = (columns * (weight * likely * (1 - likely))[:, None]).T @ columns + ridge
        found -= np.linalg.solve(curve, slope)
    scaled = found[:-1] / spread
    return np.append(scaled, found[-1] - scaled @ mean)


def confidence(weights: Floats, chosen: Sequence[Example]) -> Floats:
    """The probability of an answer for each."""
    total = np.array([one.evidence for one in chosen]) @ weights[:-1] + weights[-1]
    return np.asarray(1 / (1 + np.exp(-total)))


def quality(chosen: Sequence[Example], likely: Floats, threshold: float) -> dict[str, float]:
    """F1 of abstention over the turns, and the shares of what can be answered that are refused."""
    shares: dict[str, float] = {"from": threshold}
    refused = likely < threshold
    for kind in ("turns", "paragraphs"):
        able = np.array([one.answerable for one in chosen if one.kind == kind])
        no = refused[[one.kind == kind for one in chosen]]
        if kind == "turns":
            shares["f1"] = round(float(2 * (no & ~able).sum() / (no.sum() + (~able).sum())), 3)
        shares[f"{kind} refused"] = round(float(no[able].mean()), 3)
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("turns", type=Path)
    parser.add_argument("paragraphs", type=Path)
    arguments = parser.parse_args()
    made = asyncio.run(examples(arguments.set, arguments.turns, arguments.paragraphs))
    likely = np.zeros(len(made))
    for fold in range(FOLDS):
        out = np.array([one.fold == fold for one in made])
        weights = fit([one for one in made if one.fold != fold])
        likely[out] = confidence(weights, [one for one in made if one.fold == fold])
    for threshold in THRESHOLDS:
        print(json.dumps(quality(made, likely, threshold)))
    names = [*FEATURES, "constant"]
    print(json.dumps({name: round(float(value), 2) for name, value in zip(names, fit(made), strict=True)}))


if __name__ == "__main__":
    main()
