"""Readings in English, and what becomes of their probabilities when a scorer reads the likeliest beside the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from citewell.agent.tables.language.cells import Grid, grid_of
from citewell.agent.tables.language.choice import choose, reading_weights
from citewell.agent.tables.language.english import in_english, nothing_in_english
from citewell.agent.tables.language.evidence import evidence_of
from citewell.agent.tables.language.grammar import interpretations
from citewell.agent.tables.planner import Planned, TablePlanner
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ColumnKind, ScoreWeights
from tests.agent.tables.sheets import OWNER, Sheets

COLUMNS: dict[str, ColumnKind] = {
    "Ship": "text",
    "Launched": "text",
    "Port": "text",
    "Crew": "number",
    "Length": "number",
}
ROWS = (
    ("Adda", "14 June 1905", "Takoradi", 1204, 31.5),
    ("Volta", "2 May 1911", "Tema", 96, 18.0),
    ("Densu", "30 July 1911", "Takoradi", 310, 44.2),
    ("Pra", "9 March 1920", "Cape Coast", 88, 12.0),
    ("Tano", "9 March 1921", "Tema", 96, 14.0),
)
SHARES = ScoreWeights(logit=0.0, prior=1.0, nothing=0.0, another=0.0)
"""What leaves every probability as it was."""


@dataclass
class Scripted:
    """Scores by what a reading asks for; 0 for all others. Keeps what it was asked."""

    weights: ScoreWeights = SHARES
    scores: dict[str, float] = field(default_factory=dict[str, float])
    asked: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list[tuple[str, list[tuple[str, str]]]])

    def score(self, question: str, readings: Sequence[tuple[str, str]]) -> list[float]:
        self.asked.append((question, list(readings)))
        return [self.scores.get(asks, 0.0) for asks, _ in readings]


@pytest.fixture
def sheets(sheets: Sheets) -> Sheets:
    sheets.add(COLUMNS, ROWS, filename="Ships.csv", sheet=None)
    return sheets


@pytest.fixture
def grid(sheets: Sheets) -> Grid:
    (table,) = sheets.tables.values()
    return grid_of(table, [(row, number) for number, row in enumerate(ROWS, start=2)], ())


@pytest.mark.parametrize(
    ("question", "asks", "answer"),
    [
        ("Which ship has the largest crew?", "Ship of the row with the highest Crew", "Adda"),
        ("Which ship has the smallest crew in Tema?", "Ship of the row with the lowest Crew where Port is Tema (2 rows)", "Volta; Tano"),
        ("What is the port of the Adda?", "Port where Ship is Adda", "Takoradi"),
        ("Which ships are in Takoradi?", "Ship where Port is Takoradi (2 rows)", "Adda; Densu"),
        ("How many ships are in Takoradi?", "number of rows where Port is Takoradi", "2"),
        ("How many different ports are there?", "number of different Port", "3"),
        ("What is the total crew in Tema?", "total of Crew where Port is Tema", "192"),
        ("What is the average length?", "average of Length", "23.94"),
        ("What is the range of length?", "from the lowest to the highest Length", "32.2"),
        ("Which ship comes after Volta?", "Ship of the row after Volta", "Densu"),
        ("Who was the last ship in Takoradi?", "Ship of the last row where Port is Takoradi", "Densu"),
        ("What is the difference in length between Adda and Volta?", "difference in Length between Adda and Volta", "13.5"),
        ("Which is longer, Adda or Volta?", "which of Adda and Volta has the higher Length", "adda"),
        ("Which port has the most entries?", "Port that most rows have", "takoradi; tema"),
        ("How many ships have more crew than Densu?", "number of rows with more Crew than Densu", "1"),
        ("Which ship has the same crew as Volta?", "Ship of rows with the same Crew as Volta", "Tano"),
        ("Which ships have a crew of more than 300?", "Ship where Crew is above 300 (2 rows)", "Adda; Densu"),
        ("Which ship is at the Cape?", "Ship where Port has cape (Cape Coast)", "Pra"),
    ],
)  # fmt: skip
def test_a_reading_is_told_in_english(grid: Grid, question: str, asks: str, answer: str) -> None:
    evidence = evidence_of(question, grid)
    told = [in_english(evidence, reading) for reading in interpretations(evidence)]
    assert (asks, answer) in told


def test_every_reading_has_words_for_what_it_asks(grid: Grid) -> None:
    for question in ("Which ship has the most crew after 1911?", "How many more ships are in Takoradi than in Tema?"):
        evidence = evidence_of(question, grid)
        for reading in interpretations(evidence):
            asks, answer = in_english(evidence, reading)
            assert asks.strip()
            assert "\n" not in asks + answer


def test_the_reading_that_means_nothing_names_the_columns(grid: Grid) -> None:
    asks, answer = nothing_in_english(grid)
    assert asks == "nothing of the table, whose columns are Ship, Launched, Port, Crew, Length"
    assert answer == ""


def test_a_scorer_that_says_nothing_changes_nothing(grid: Grid) -> None:
    question = "Which ship has the largest crew?"
    evidence = evidence_of(question, grid)
    found, scorer = list(interpretations(evidence)), Scripted()
    before, after = (
        choose(evidence, found, reading_weights()),
        choose(evidence, found, reading_weights(), scorer, question),
    )
    assert before is not None
    assert after is not None
    assert after.reading is before.reading
    assert after.confidence == pytest.approx(before.confidence, abs=1e-4)
    assert after.rows_confidence == pytest.approx(before.rows_confidence, abs=1e-4)
    ((asked, readings),) = scorer.asked
    assert asked == question
    assert readings[-1] == nothing_in_english(grid)
    assert 3 < len(readings) <= THRESHOLDS.scored_answers + 1
    assert len(set(readings)) == len(readings)


def test_what_a_scorer_prefers_becomes_likelier_by_as_much(grid: Grid) -> None:
    question = "Which ship has the largest crew?"
    evidence = evidence_of(question, grid)
    found = list(interpretations(evidence))
    before = choose(evidence, found, reading_weights())
    assert before is not None
    other = Scripted()
    choose(evidence, found, reading_weights(), other, question)
    meant = in_english(evidence, before.reading)[0]
    scorer = Scripted(ScoreWeights(logit=0.5, prior=1.0, nothing=0.0, another=0.0), {meant: 3.0})
    after = choose(evidence, found, reading_weights(), scorer, question)
    assert after is not None
    odds = before.confidence / (1 - before.confidence)
    assert after.confidence / (1 - after.confidence) == pytest.approx(odds * math.exp(1.5), rel=1e-3)


def test_a_scorer_may_choose_another_answer_or_none(grid: Grid) -> None:
    question = "Which ship has the largest crew?"
    evidence = evidence_of(question, grid)
    found = list(interpretations(evidence))
    lowest = "Ship of the row with the lowest Crew"
    full = ScoreWeights(logit=1.0, prior=1.0, nothing=0.0, another=0.0)
    shown = Scripted(full)
    choose(evidence, found, reading_weights(), shown, question)
    other = shown.asked[0][1][1][0]
    chosen = choose(evidence, found, reading_weights(), Scripted(full, {other: 30.0}), question)
    assert chosen is not None
    assert in_english(evidence, chosen.reading)[0] == other != lowest
    nothing = choose(evidence, found, reading_weights(), Scripted(full, {nothing_in_english(grid)[0]: 30.0}), question)
    assert nothing is not None
    assert nothing.confidence < 1e-6
    assert nothing.rows_confidence < 1e-6


async def test_a_planner_asks_its_scorer_about_questions_in_english_alone(sheets: Sheets) -> None:
    tables, scorer = list(sheets.tables.values()), Scripted()
    planner = TablePlanner(TableEngine(sheets), scorer=scorer)
    planned = await planner.consider(OWNER, "Which ship comes after Volta?", tables, only=True)
    assert isinstance(planned, Planned)
    assert [question for question, _ in scorer.asked] == ["Which ship comes after Volta?"]
    await planner.consider(OWNER, "Welches Schiff kommt nach der Volta und liegt im Hafen von Tema?", tables, only=True)
    assert len(scorer.asked) == 1
