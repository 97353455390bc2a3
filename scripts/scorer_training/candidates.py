"""The questions that the scorer learns from: WikiTableQuestions' training split, each with its likeliest answers in English.

How likely an answer is, a log-linear model says that was fitted without the question's table, as `benchmarks/table_choice.py` fits it. It
would be too sure of tables that it knows, and the scorer would learn to believe it.
"""

from __future__ import annotations

import asyncio
import pickle
import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from table_choice import Numbers, Question, Weights, asked, fit, of_frequent_names, prepare, read_grids

from citewell.agent.tables.language.cells import Grid
from citewell.agent.tables.language.choice import ALWAYS_SCORED, MIN_OTHER_SHARE, MIN_SHARE
from citewell.agent.tables.language.english import in_english, nothing_in_english
from citewell.agent.tables.language.evidence import evidence_of
from citewell.agent.tables.language.grammar import interpretations
from citewell.agent.tables.thresholds import THRESHOLDS

Part = Literal["train", "tune", "held"]

FOLDS = 3
_HELD_TABLES, _TUNED_TABLES = 5, 12  # one in so many
_HELD = -1


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its likeliest answers.

    part: what its table serves for; readings, shares: all readings, and how likely each is; answers: the likeliest, by their numbers in
    `readings.answer`; told: what each asks for and gives, and last the reading that means nothing of the table; prior: logarithm of the
    probability of each, of nothing, and of another answer; right: which of these are.
    """

    question: str
    part: Part
    readings: Question
    shares: Weights
    answers: Numbers
    told: tuple[tuple[str, str], ...]
    prior: NDArray[np.float32]
    right: NDArray[np.bool_]


def grids_of(folder: Path, kept: Path | None) -> dict[str, Grid]:
    """All tables, from the file that keeps them where it exists."""
    if kept is not None and kept.exists():
        grids: dict[str, Grid] = pickle.loads(kept.read_bytes())
        return grids
    grids = asyncio.run(read_grids(folder))
    if kept is not None:
        kept.write_bytes(pickle.dumps(grids))
    return grids


def read_cases(folder: Path, grids: Mapping[str, Grid], max_questions: int | None = None) -> list[Case]:
    """All questions, or so many at random, in the order of the set."""
    found = [one for one in asked(folder) if one[1] in grids]
    if max_questions is not None and max_questions < len(found):
        chosen = random.Random(0).sample(range(len(found)), max_questions)
        found = [found[index] for index in sorted(chosen)]
    names: dict[str, int] = {}
    folds = [_fold(table) for _, table, _ in found]
    read, usual = of_frequent_names(
        [
            prepare(grids[table], question, known, names, held=fold == _HELD)
            for (question, table, known), fold in zip(found, folds, strict=True)
        ],
        names,
    )
    fitted = {
        left_out: fit([one for one, fold in zip(read, folds, strict=True) if fold not in (_HELD, left_out)], len(usual))
        for left_out in (_HELD, *range(FOLDS))
    }
    return [
        _case(question, _part(table), readings, grids[table], readings.probabilities(fitted[fold]))
        for (question, table, _), readings, fold in zip(found, read, folds, strict=True)
    ]


def of_part(cases: Sequence[Case], part: Part) -> list[Case]:
    """The cases of a part, in their order."""
    return [one for one in cases if one.part == part]


def _checksum(table: str) -> int:
    return zlib.crc32(table.encode())


def _fold(table: str) -> int:
    """The tables that its questions are weighed without; `_HELD` for a table that nothing is fitted to."""
    checksum = _checksum(table)
    return _HELD if checksum % _HELD_TABLES == 0 else checksum // _HELD_TABLES % FOLDS


def _part(table: str) -> Part:
    if _fold(table) == _HELD:
        return "held"
    return "tune" if _checksum(table) // (_HELD_TABLES * FOLDS) % _TUNED_TABLES == 0 else "train"


def _case(question: str, part: Part, read: Question, grid: Grid, shares: Weights) -> Case:
    evidence = evidence_of(question[: THRESHOLDS.weighed_characters], grid)
    readings = list(interpretations(evidence))
    mass, nothing = np.bincount(read.answer, shares), read.answer[-1]
    likeliest = [answer for answer in np.argsort(-mass, kind="stable") if answer != nothing]
    answers = [
        answer
        for rank, answer in enumerate(likeliest[: THRESHOLDS.scored_answers])
        if rank < ALWAYS_SCORED or mass[answer] >= THRESHOLDS.scored_share
    ]
    told: list[tuple[str, str]] = []
    right: list[bool] = []
    for answer in answers:
        same = np.flatnonzero(read.answer == answer)
        told.append(in_english(evidence, readings[int(same[shares[same].argmax()])]))
        right.append(bool(read.right[same].any()))
    known = mass[[*answers, nothing]]
    another = max(1.0 - float(known.sum()), MIN_OTHER_SHARE)
    return Case(
        question,
        part,
        read,
        shares,
        np.array(answers, np.int64),
        (*told, nothing_in_english(grid)),
        np.log(np.maximum([*known, another], MIN_SHARE)).astype(np.float32),
        np.array([*right, not any(right), not any(right)]),
    )
