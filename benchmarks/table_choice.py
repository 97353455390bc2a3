"""Fits what the readings of a question about a table are weighed by (`citewell/agent/tables/language/reading_weights.json`).

    python benchmarks/table_choice.py FOLDER [--write FILE.json] [--grids FILE.pickle] [--held 5]

FOLDER holds the training split of WikiTableQuestions: `training.tsv` (id, utterance, context, targetValue) and `csv/`. Every table is read
as an upload is, every question is given its readings, and those whose answer is the known one are right. A log-linear model over all
readings of a question, and the reading that means nothing of the table, is fitted to give the right ones (or nothing, where none is right)
most of the probability. Tables with every fifth checksum (`--held`) are left out of the fit; of their questions are printed

reach:     one of the readings is right
forced:    the likeliest answer is right
right at:  share answered rightly where the threshold lets that share be wrong, and the threshold
with rows: the same where, below the threshold, the likeliest rows are shown whole from a second threshold on, which is right where they
           hold the known answer; and both thresholds

`--write` fits to all tables and writes the weights. `--grids` keeps the tables that were read for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import json
import pickle
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from answers import holds, plain
from numpy.typing import NDArray
from table_questions import FileTables

from citewell.agent.tables.language.cells import Grid, date_in, grid_of, seconds_in
from citewell.agent.tables.language.evidence import evidence_of
from citewell.agent.tables.language.grammar import interpretations
from citewell.agent.tables.language.traits import Group, QuestionTraits
from citewell.agent.tables.query.typed import Order, TableQuery
from citewell.agent.tables.run.engine import TableEngine, table_key
from citewell.agent.tables.run.totals import find_total_rows
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN

LEAST_QUESTIONS = 30
"""Questions that a name must occur in to be given a weight."""
RIDGE = 5e-4
STEPS = 6
RATE = 0.1
BATCH = 32
LEAST_WEIGHT = 0.03
_ALLOWED = (0.01, 0.02, 0.03, 0.04, 0.05, 0.08)
_COUNTED = re.compile(r"(\d[\d.,]*)(?: [a-z]+){1,2}")
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)")
_SPACED = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}\b)")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A question with what is known of its readings; the last reading is the one that means nothing of the table.

    names: of all groups in a row, by number; group: which group each is in; readings: the groups of all readings in a row;
    reading: which reading each is of; answer: which readings share an answer; right: whether that is the known one;
    rows: which readings share rows, few enough to be shown, -1 where a reading has none; held_by: whether the known answer is in them.
    """

    held: bool
    names: Numbers
    group: Numbers
    readings: Numbers
    reading: Numbers
    answer: Numbers
    right: NDArray[np.bool_]
    rows: Numbers
    held_by: NDArray[np.bool_]
    reached: bool

    def probabilities(self, weights: Weights) -> Weights:
        """How likely each reading is."""
        groups = np.bincount(self.group, weights[self.names], int(self.readings.max()) + 1)
        scores = np.bincount(self.reading, groups[self.readings], len(self.answer))
        likely = np.exp(scores - scores.max())
        return likely / likely.sum()


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a table of the data set, which escapes with backslashes."""
    text = path.read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(text), doublequote=False, escapechar="\\"))


async def read_grids(folder: Path) -> dict[str, Grid]:
    """All cells of each table, read as an upload is."""
    grids: dict[str, Grid] = {}
    for path in sorted((folder / "csv").rglob("*.csv")):
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / path.name
            with copy.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows_of(path))
            files = FileTables(Path(scratch))
            files.read(copy)
            table, engine = files.tables[0], TableEngine(files)
            query = TableQuery(source=table_key(table), order=(Order(ROW_COLUMN),), limit=THRESHOLDS.held_rows)
            found = await engine.run("owner", table, query)
            totals = await find_total_rows(engine, "owner", table)
            rows = [(row.values, row.rows.first or 0) for row in found.rows]
            grids[str(path.relative_to(folder))] = grid_of(table, rows, totals)
    return grids


def asked(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(question, table, known answers)."""
    for line in (folder / "training.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        _, question, table, values = line.split("\t")
        yield (
            question,
            table,
            [v.replace("\\n", "\n").replace("\\p", "|").replace("\\\\", "\\") for v in values.split("|")],
        )


def is_known(answer: str, known: str) -> bool:
    """Whether a reading's value is a known one: equal, a cell that holds little besides, the same number, date or time, or a count
    without its noun."""
    wanted, given = plain(known), _SPACED.sub("", plain(answer))
    if wanted == given or ((time := seconds_in(wanted)) is not None and time == seconds_in(given)):
        return True
    if (number := _NUMBER.fullmatch(wanted)) is not None:
        found = _NUMBER.findall(given)
        same = len(found) == 1 and float(found[0].replace(",", "")) == float(number[0].replace(",", ""))
        return same and len(given) <= len(wanted) + 12
    if (counted := _COUNTED.fullmatch(wanted)) is not None and _NUMBER.fullmatch(given):
        return counted[1].replace(",", "").rstrip(".") == f"{float(given.replace(',', '')):.12g}"
    if _is_day(given, _ORDINAL.sub("", wanted)):
        return True
    if (day := date_in(known.split(" (")[0])) is not None and day.date().isoformat() == given:
        return True
    return holds(answer, known) and len(given) <= 2 * len(wanted) + 8


def _is_day(given: str, wanted: str) -> bool:
    """Whether a day without its year, `october 15`, is that of a date."""
    found = date_in(given)
    return found is not None and wanted in {
        found.strftime(form).lower().replace(" 0", " ") for form in ("%B %d", "%b %d", "%d %B")
    }


def is_right(answer: frozenset[str], known: Sequence[str]) -> bool:
    """Whether the values of a reading are the known ones, no more and no fewer."""
    same = len(answer) == len({plain(value) for value in known})
    return same and all(any(is_known(value, one) for value in answer) for one in known)


def prepare(grid: Grid, question: str, known: Sequence[str], names: dict[str, int], *, held: bool) -> Question:
    """All readings of a question; new names are numbered."""
    evidence = evidence_of(question[: THRESHOLDS.weighed_characters], grid)
    readings = list(interpretations(evidence))
    traits = QuestionTraits(evidence, readings)
    numbered: dict[object, int] = {}
    flat: list[int] = []
    group: list[int] = []

    def number(found: Group) -> int:
        key, texts = found
        if key not in numbered:
            numbered[key] = len(numbered)
            flat.extend(names.setdefault(text, len(names)) for text in texts)
            group.extend([numbered[key]] * len(texts))
        return numbered[key]

    answers: dict[frozenset[str], tuple[int, bool]] = {}
    groups = [[number(g) for g in traits.groups(reading)] for reading in readings]
    groups.append([number(g) for g in traits.nothing()])
    for reading in readings:
        if reading.answer not in answers:
            answers[reading.answer] = (len(answers), is_right(reading.answer, known))
    shown: dict[frozenset[int], tuple[int, bool]] = {}
    for reading in readings:
        if 0 < len(reading.rows) <= THRESHOLDS.whole_rows and reading.rows not in shown:
            cells = [column.texts[row] for row in reading.rows for column in grid.columns]
            shown[reading.rows] = (len(shown), all(any(is_known(cell, one) for cell in cells) for one in known))
    rows = [shown.get(reading.rows, (-1, False)) for reading in readings]
    right = np.array([*(answers[reading.answer][1] for reading in readings), False])
    reached = bool(right.any())
    right[-1] = not reached
    return Question(
        held, np.array(flat), np.array(group), np.array([g for one in groups for g in one]),
        np.repeat(np.arange(len(groups)), [len(one) for one in groups]),
        np.array([*(answers[reading.answer][0] for reading in readings), len(answers)]), right,
        np.array([*(number for number, _ in rows), -1]), np.array([*(held for _, held in rows), False]), reached,
    )  # fmt: skip


def of_frequent_names(questions: Sequence[Question], names: dict[str, int]) -> tuple[list[Question], list[str]]:
    """The questions with the names that occur in enough of them, numbered anew, and these names."""
    counts = np.zeros(len(names), dtype=np.int64)
    for question in questions:
        counts[np.unique(question.names)] += 1
    usual = counts >= LEAST_QUESTIONS
    number = np.cumsum(usual) - 1
    kept = [
        replace(question, names=number[question.names[known]], group=question.group[known])
        for question in questions
        for known in (usual[question.names],)
    ]
    return kept, [name for name, index in names.items() if usual[index]]


def fit(questions: Sequence[Question], size: int) -> Weights:
    """Weights by which the right readings are likely: marginal likelihood with a ridge, by AdaGrad in batches."""
    weights, squares = np.zeros(size), np.full(size, 1e-2)
    chance = np.random.default_rng(0)
    for step in range(STEPS):
        order, rate = chance.permutation(len(questions)), RATE * (1 - step / STEPS) ** 0.5
        for start in range(0, len(order), BATCH):
            slope = np.zeros(size)
            for index in order[start : start + BATCH]:
                one = questions[index]
                likely = one.probabilities(weights)
                pull = np.where(one.right, likely / max(float(likely[one.right].sum()), 1e-12), 0.0) - likely
                groups = np.bincount(one.readings, pull[one.reading], int(one.readings.max()) + 1)
                slope += np.bincount(one.names, groups[one.group], size)
            slope = slope / BATCH - RIDGE * weights
            squares += slope * slope
            weights += rate * slope / np.sqrt(squares)
    kept: Weights = np.where(np.abs(weights) >= LEAST_WEIGHT, weights, np.zeros(size))
    return kept.round(2)


def likeliest(shares: Weights, groups: Numbers, right: NDArray[np.bool_]) -> tuple[float, bool]:
    """How likely the likeliest group of readings is, and whether it is right; readings of group -1 are in none."""
    kept = groups >= 0
    if not kept.any():
        return 0.0, False
    mass = np.bincount(groups[kept], shares[kept])
    best = int(mass.argmax())
    return float(mass[best]), bool(right[groups == best].any())


def measured(questions: Sequence[Question], weights: Weights) -> dict[str, object]:
    """What the weights do to questions."""
    answers: list[tuple[float, bool]] = []
    rows: list[tuple[float, bool]] = []
    for one in questions:
        shares = one.probabilities(weights)[:-1]
        answers.append(likeliest(shares, one.answer[:-1], one.right[:-1] & one.reached))
        rows.append(likeliest(shares, one.rows[:-1], one.held_by[:-1]))
    (confidence, right), (rows_confidence, held) = (np.array(pairs, dtype=float).T for pairs in (answers, rows))

    def shares_at(low: float, low_rows: float) -> tuple[float, float]:
        """What is right and what is wrong with two thresholds."""
        told = confidence >= low
        whole = ~told & (rows_confidence >= low_rows)
        correct, wrong = (((told & (right == ok)) | (whole & (held == ok))).mean() for ok in (1, 0))
        return round(float(correct), 3), round(float(wrong), 3)

    order = np.argsort(-confidence)
    rights = np.cumsum(right[order]) / len(questions)
    wrongs = np.cumsum(1 - right[order]) / len(questions)
    at: dict[str, tuple[float, float]] = {}
    both: dict[str, tuple[float, ...]] = {}
    for allowed in _ALLOWED:
        last = int(np.searchsorted(wrongs, allowed, side="right")) - 1
        if last >= 0:
            at[f"wrong {allowed}"] = (round(float(rights[last]), 3), round(float(confidence[order[last]]), 2))
        pairs = [(low, low_rows) for low in np.arange(0.6, 0.9, 0.01) for low_rows in np.arange(0.6, 1.0, 0.01)]
        found = [
            (correct, round(float(low), 2), round(float(low_rows), 2))
            for low, low_rows in pairs
            for correct, wrong in (shares_at(low, low_rows),)
            if wrong <= allowed
        ]
        both[f"wrong {allowed}"] = max(found, default=())
    return {
        "questions": len(questions), "reach": round(float(np.mean([one.reached for one in questions])), 3),
        "forced": round(float(right.mean()), 3), "right at": at, "with rows": both,
        "right and wrong as shipped": shares_at(THRESHOLDS.confidence, THRESHOLDS.rows_confidence),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--grids", type=Path)
    parser.add_argument("--held", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.grids is not None and arguments.grids.exists():
        grids: dict[str, Grid] = pickle.loads(arguments.grids.read_bytes())
    else:
        grids = asyncio.run(read_grids(arguments.folder))
        if arguments.grids is not None:
            arguments.grids.write_bytes(pickle.dumps(grids))
    names: dict[str, int] = {}
    read = [
        prepare(grids[table], question, known, names, held=zlib.crc32(table.encode()) % arguments.held == 0)
        for question, table, known in asked(arguments.folder)
        if table in grids
    ]
    questions, usual = of_frequent_names(read, names)
    kept = [one for one in questions if not one.held]
    weights = fit(kept, len(usual))
    print(json.dumps({"fitted": measured(kept, weights), "held": measured([o for o in questions if o.held], weights)}))
    if arguments.write is not None:
        weights = fit(questions, len(usual))
        named = {name: float(weight) for name, weight in sorted(zip(usual, weights, strict=True)) if weight}
        arguments.write.write_text(json.dumps(named, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        print(json.dumps({"weights": len(named), "bytes": arguments.write.stat().st_size}))


if __name__ == "__main__":
    main()
