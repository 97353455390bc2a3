"""Questions that no rule plans are weighed: the rows and figures that the likeliest reading gives, and what is not likely enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.agent.tables.language.cells import Grid, date_in, grid_of, number_in
from citewell.agent.tables.language.choice import choose
from citewell.agent.tables.language.evidence import alike, evidence_of
from citewell.agent.tables.language.grammar import interpretations
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.language.table_planner import Planned, TablePlanner
from citewell.agent.tables.query.typed import TextValue, parse_query
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import row_hits
from citewell.agent.tables.thresholds import READING_WEIGHTS
from citewell.types import ColumnKind
from tests.agent.tables.sheets import OWNER, Sheets

COLUMNS: dict[str, ColumnKind] = {
    "Ship": "text",
    "Launched": "text",
    "Port": "text",
    "Crew": "text",
    "Length (m)": "number",
}
ROWS = (
    ("Adda", "14 June 1905", "Takoradi", "1,204 men", 31.5),
    ("Volta", "2 May 1911", "Tema", "96", 18.0),
    ("Densu", "30 July 1911", "Takoradi", "310[1]", 44.2),
    ("Pra", "9 March 1920", "Cape Coast, Ghana", "88", 12.0),
)


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    sheets = Sheets(tmp_path)
    sheets.add(COLUMNS, ROWS, filename="Ships.csv", sheet=None)
    return sheets


async def _answer(sheets: Sheets, question: str, *, only: bool = True) -> str | None:
    engine = TableEngine(sheets)
    planned = await TablePlanner(engine).consider(OWNER, question, list(sheets.tables.values()), only=only)
    if not isinstance(planned, Planned):
        return None
    result = await engine.run(OWNER, planned.plan.table, parse_query(planned.plan.query.to_json()))
    return phrase(planned.plan, result, planned.left_out, list(range(1, len(row_hits(OWNER, result)) + 1)))


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("Which ship comes after Volta?", "Densu"),
        ("What ship came before Pra?", "Densu"),
        ("Which ship has the largest crew?", "Adda"),
        ("How many ships are in Takoradi?", "2"),
        ("Who was the last ship in Takoradi?", "Densu"),
    ],
)
async def test_a_weighed_answer_holds_what_is_asked(sheets: Sheets, question: str, held: str) -> None:
    answer = await _answer(sheets, question)
    assert answer is not None
    assert held in answer
    assert "[1]" in answer


@pytest.mark.parametrize(
    "question", ["Which ship sank in a storm?", "Is Volta the same as Pra?", "What is the weather?"]
)
async def test_what_is_not_likely_enough_is_not_answered(sheets: Sheets, question: str) -> None:
    assert await _answer(sheets, question) is None


async def test_beside_other_files_every_word_must_be_accounted_for(sheets: Sheets) -> None:
    question = "Which ship comes after Volta in the annals of sorrow?"
    assert await _answer(sheets, question, only=False) is None
    assert await _answer(sheets, "Which ship comes after Volta?", only=False) is not None


def _grid(sheets: Sheets) -> Grid:
    (table,) = sheets.tables.values()
    return grid_of(table, [(row, number) for number, row in enumerate(ROWS, start=2)], ())


def test_columns_of_texts_are_known_by_what_they_hold(sheets: Sheets) -> None:
    parts = {column.name: column.part for column in _grid(sheets).columns}
    assert parts == {
        "Ship": None,
        "Launched": TextValue.DATE,
        "Port": None,
        "Crew": TextValue.NUMBER,
        "Length (m)": None,
    }


def test_probabilities_of_answers_are_shares_of_one(sheets: Sheets) -> None:
    evidence = evidence_of("Which ship comes after Volta?", _grid(sheets))
    chosen = choose(evidence, list(interpretations(evidence)), READING_WEIGHTS)
    assert chosen is not None
    assert 0 < chosen.confidence < 1
    assert choose(evidence, [], READING_WEIGHTS) is None


def test_numbers_and_dates_in_texts() -> None:
    assert [number_in(text) for text in ("£3.00", "13,845 ft", "2 345 097", "none", "−5")] == [
        3.0,
        13845.0,
        2345097.0,
        None,
        -5.0,
    ]
    assert [date_in(text) is not None for text in ("14 June 2005", "March 9, 1920", "03/04/2005", "2005")] == [
        True,
        True,
        False,
        False,
    ]


def test_words_of_one_stem_are_alike() -> None:
    assert alike("win", "winner")
    assert not alike("port", "report")
    assert not alike("in", "inner")
