"""Questions that no rule plans are weighed: the rows and figures that the likeliest reading gives, and what is not likely enough."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from citewell.agent.tables.language.cells import Grid, GridColumn, date_in, grid_of, number_in, seconds_in
from citewell.agent.tables.language.choice import choose, reading_weights
from citewell.agent.tables.language.evidence import alike, evidence_of
from citewell.agent.tables.language.grammar import interpretations
from citewell.agent.tables.language.interpretation import Interpretation
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.language.traits import QuestionTraits
from citewell.agent.tables.planner import Planned, TablePlanner
from citewell.agent.tables.query.compile import compile_query
from citewell.agent.tables.query.typed import TextValue, parse_query
from citewell.agent.tables.run.engine import TableEngine, table_key
from citewell.agent.tables.run.results import row_hits
from citewell.types import ColumnKind, TableColumn
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
def sheets(sheets: Sheets) -> Sheets:
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
        ("What is the highest length?", "44.2"),
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


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which ship comes after Volta?", "Densu comes after Volta [1]."),
        ("Which ship has the largest crew?", "Crew was highest for Adda: 1,204 men [1]."),
        ("Which is longer, Adda or Volta?",
         "Length was higher for Adda, 31.5 m [1], than for Volta, 18 m [2], a difference of 13.5 m."),
        ("Which ship has the same port as Adda?", "Densu has the same Port as Adda: Takoradi [1]."),
        ("Which port has the most ships?", "Takoradi has the most rows: 2 [1]."),
    ],
)  # fmt: skip
async def test_a_weighed_answer_is_a_sentence(sheets: Sheets, question: str, answer: str) -> None:
    assert await _answer(sheets, question) == answer


async def test_rows_that_are_surer_than_any_of_their_cells_are_shown_whole(sheets: Sheets) -> None:
    answer = "The row where Launched is 9 March 1920:\n- Pra: Launched 9 March 1920; Port Cape Coast, Ghana; Crew 88; Length 12 m [1]"
    assert await _answer(sheets, "What was launched in 1920?") == answer


@pytest.mark.parametrize(
    ("question", "form", "lead"),
    [
        ("What was the first ship?", "first", "The first row:"),
        ("Which ship comes after Volta?", "after", "The row after Volta:"),
        ("Which ship has the greatest length?", "highest", "The row with the highest Length:"),
        ("Which ship has the same port as Adda?", "same", "The row with the same Port as Adda:"),
        ("Which ships are longer than Volta?", "beyond", "The rows with more Length than Volta:"),
    ],
)
async def test_whole_rows_are_led_by_how_they_were_found(sheets: Sheets, question: str, form: str, lead: str) -> None:
    plan = next(
        reading for reading in _readings(sheets, question) if reading.form == form and len(reading.rows) < 3
    ).whole
    result = await TableEngine(sheets).run(OWNER, plan.table, plan.query)
    text = phrase(plan, result, (), list(range(1, len(result.rows) + 1))) or ""
    assert re.match(rf"{lead}\n- \w+: ", text)
    assert all(name in text for name in ("Launched ", "Port ", "Crew ", "Length "))


def _readings(sheets: Sheets, question: str) -> list[Interpretation]:
    return list(interpretations(evidence_of(question, _grid(sheets))))


@pytest.mark.parametrize(
    ("question", "form", "answer"),
    [
        ("Which ship has the second largest crew?", "highest", {"densu"}),
        ("How many years are between the first and the last launch?", "first", {"adda"}),
        ("What is the difference in length between Adda and Volta?", "difference", {"13.5"}),
        ("Which ship is shorter, Adda or Volta?", "ahead", {"volta"}),
        ("Which ships are longer than Volta?", "beyond", {"adda", "densu"}),
        ("How many ships are longer than Volta?", "beyond count", {"2.0"}),
        ("Are there more ships in Takoradi or in Tema?", "more rows", {"takoradi"}),
        ("What is the average length of all ships?", "avg", {"26.425"}),
        ("What is the range of length?", "span", {"32.2"}),
        ("How many ships launched in 1911?", "count", {"2.0"}),
    ],
)
def test_what_a_question_may_mean_is_among_its_readings(
    sheets: Sheets, question: str, form: str, answer: set[str]
) -> None:
    assert answer in [reading.answer for reading in _readings(sheets, question) if reading.form == form]


def test_no_reading_answers_with_what_the_question_names_itself(sheets: Sheets) -> None:
    assert {"volta"} not in [r.answer for r in _readings(sheets, "Which ships are longer than Volta?")]


def test_every_reading_has_a_query_that_the_engine_takes(sheets: Sheets) -> None:
    questions = (
        "How many ships are longer than Volta?",
        "Are there more ships in Takoradi or in Tema?",
        "What is the range of length?",
    )
    (table,) = sheets.tables.values()
    for reading in [reading for question in questions for reading in _readings(sheets, question)]:
        assert compile_query(reading.plan.query, replace(table, id="t0")).sql


def test_readings_with_the_same_answer_add_up_beside_the_reading_that_means_nothing(sheets: Sheets) -> None:
    evidence = evidence_of("How many ships are in Takoradi?", _grid(sheets))
    found = [reading for reading in interpretations(evidence) if reading.answer == frozenset({"2.0"})]
    assert len(found) > 1
    one, all_of_them = choose(evidence, found[:1], {}), choose(evidence, found, {})
    assert one is not None
    assert all_of_them is not None
    assert one.confidence == pytest.approx(1 / 2)
    assert all_of_them.confidence == pytest.approx(len(found) / (len(found) + 1))


def test_weights_are_finite_and_name_forms_of_the_grammar() -> None:
    weights = reading_weights()
    assert all(math.isfinite(weight) for weight in weights.values())
    assert {name for name in weights if name.startswith("form ")} >= {
        f"form {form}" for form in ("rows", "count", "highest", "nothing")
    }


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
    chosen = choose(evidence, list(interpretations(evidence)), reading_weights())
    assert chosen is not None
    assert 0 < chosen.confidence < 1
    assert choose(evidence, [], reading_weights()) is None


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


async def test_how_many_of_a_column_of_numbers_asks_for_the_figure(tmp_path: Path) -> None:
    sheets = Sheets(tmp_path)
    sheets.add(
        {"Service": "text", "Crowns": "integer"}, [("Berths", 14), ("Cranes", 95)], filename="Prices.csv", sheet=None
    )
    answer = await _answer(sheets, "How many crowns are cranes?")
    assert answer is not None
    assert "95" in answer


SKATERS: dict[str, ColumnKind] = {
    "Skater": "text",
    "Born": "date",
    "Time": "text",
    "Medals": "integer",
    "Share": "text",
}
RACES = (
    ("Ama", date(1990, 5, 1), "4:10.2", 3, "10%"),
    ("Esi", date(1985, 2, 9), "1:02:00.5", 5, "55%"),
    ("Yaa", date(1999, 1, 1), "3:59.9", 4, "20%"),
    ("Adjoa", None, "—", 1, "15%"),
    ("Total (4 skaters)", None, "", 13, "100%"),
)


def _of_skaters(tmp_path: Path, question: str) -> list[Interpretation]:
    table = Sheets(tmp_path).add(SKATERS, RACES, filename="Race.csv", sheet=None)
    grid = grid_of(table, [(row, number) for number, row in enumerate(RACES, start=2)], ())
    return list(interpretations(evidence_of(question, grid)))


@pytest.mark.parametrize(
    ("question", "form", "answer"),
    [
        ("Who is older, Ama or Esi?", "ahead", {"esi"}),
        ("Who is younger, Ama or Esi?", "ahead", {"ama"}),
        ("Which skater had the shortest time?", "lowest", {"yaa"}),
        ("Which skater had the longest time?", "highest", {"esi"}),
        ("Which skater has the most medals?", "highest", {"esi"}),
        ("How many consecutive skaters have more than 2 medals?", "run", {"3.0"}),
    ],
)
def test_ages_times_totals_and_runs(tmp_path: Path, question: str, form: str, answer: set[str]) -> None:
    readings = _of_skaters(tmp_path, question)
    assert answer in [reading.answer for reading in readings if reading.form == form]
    everywhere = [reading.answer for reading in readings if not reading.selection.links]
    assert not any({"total (4 skaters)", "—"} & one for one in everywhere)


def test_of_two_the_faster_may_have_the_lower_or_the_higher_figure(tmp_path: Path) -> None:
    found = [r.answer for r in _of_skaters(tmp_path, "Who is better, Ama or Esi?") if r.form == "ahead"]
    assert {"ama"} in found
    assert {"esi"} in found


def test_a_percentage_speaks_for_the_column_of_percentages(tmp_path: Path) -> None:
    question = "How many skaters have a share of more than 2%?"
    table = Sheets(tmp_path).add(SKATERS, RACES, filename="Race.csv", sheet=None)
    grid = grid_of(table, [(row, number) for number, row in enumerate(RACES, start=2)], ())
    evidence = evidence_of(question, grid)
    readings = list(interpretations(evidence))
    traits = QuestionTraits(evidence, readings)
    by_column = {
        reading.selection.links[0].column.name: {name for _, names in traits.groups(reading) for name in names}
        for reading in readings
        if reading.form == "count" and len(reading.selection.links) == 1 and reading.selection.links[0].compares
    }
    assert "percentages" in by_column["Share"]
    assert "a percentage of other numbers" in by_column["Medals"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("3:25", 205.0), ("1:00:02.5", 3602.5), ("3:25*", 205.0), ("a 3:25 b", None), ("325", None)]
)
def test_times_in_texts(text: str, seconds: float | None) -> None:
    assert seconds_in(text) == seconds


async def test_a_run_of_rows_is_worded_as_one(tmp_path: Path) -> None:
    sheets = Sheets(tmp_path)
    table = sheets.add(SKATERS, RACES, filename="Race.csv", sheet=None)
    question = "How many consecutive skaters have more than 2 medals?"
    run = next(r.make for r in _of_skaters(tmp_path, question) if r.form == "run")
    result = await TableEngine(sheets).run(OWNER, table, replace(run().query, source=table_key(table)))
    assert phrase(run(), result, (), [1]) == (
        "There are 3 rows one after another in “Race.csv” where Medals is over 2 [1]."
    )


LEAGUE: dict[str, ColumnKind] = {"Season": "text", "Position": "text", "Founded": "integer", "Goals": "integer"}
SEASONS = (
    ("1988-89", "1st", 1988, 40),
    ("1991-92", "3rd", 1991, 35),
    ("1996-97", "7th", 1996, 28),
    ("2003-04", "2nd", 2003, None),
    ("2005-06", "12th", 2005, 19),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many times was the position 3rd or higher?", {"3.0"}),
        ("How many times was the position 3rd place or better?", {"3.0"}),
        ("How many seasons had a position lower than 3rd?", {"2.0"}),
        ("How many seasons were in the 1990s?", {"2.0"}),
        ("How many seasons did not have at least 30 goals?", {"2.0"}),
        ("How many seasons were outside the 1990s?", {"3.0"}),
    ],
)
async def test_ranks_decades_and_what_is_not_so(tmp_path: Path, question: str, answer: set[str]) -> None:
    sheets = Sheets(tmp_path)
    table = sheets.add(LEAGUE, SEASONS, filename="League.csv", sheet=None)
    grid = grid_of(table, [(row, number) for number, row in enumerate(SEASONS, start=2)], ())
    readings = [
        r for r in interpretations(evidence_of(question, grid)) if r.form == "count" and set(r.answer) == answer
    ]
    assert readings
    for reading in readings:
        result = await TableEngine(sheets).run(OWNER, table, replace(reading.plan.query, source=table_key(table)))
        assert {repr(float(value)) for value in result.rows[0].values} == answer


GAMES: dict[str, ColumnKind] = {"Opponent": "text", "Result": "text", "Attendance": "integer", "Notes": "text"}
PLAYED = (
    ("at Tema", "W 3–1", 900, None),
    ("Accra", "W 2–0", 1500, "derby"),
    ("@Kumasi", "L 0–1", 700, None),
    ("Ho", "L 1–4", 400, "rain"),
    ("Keta", "D 2–2", 0, None),
)


@pytest.mark.full
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many games did they win?", "2.0"),
        ("How many losses were there?", "2.0"),
        ("How many games were not won?", "3.0"),
        ("How many games were tied?", "1.0"),
        ("How many games were away?", "2.0"),
        ("How many home games did they lose?", "1.0"),
        ("What was the longest winning streak?", "2.0"),
        ("How many games have no notes?", "3.0"),
        ("How many games did not have any attendance?", "1.0"),
        ("How many games had no attendance?", "1.0"),
        ("Which opponent was the first one they lost to?", "@kumasi"),
    ],
)
async def test_codes_of_results_and_places_and_cells_that_say_nothing(
    tmp_path: Path, question: str, answer: str
) -> None:
    sheets = Sheets(tmp_path)
    table = sheets.add(GAMES, PLAYED, filename="Games.csv", sheet=None)
    grid = grid_of(table, [(row, number) for number, row in enumerate(PLAYED, start=2)], ())
    readings = [
        r for r in interpretations(evidence_of(question, grid)) if r.answer == frozenset({answer}) and r.selection.links
    ]
    assert readings
    for reading in readings:
        result = await TableEngine(sheets).run(OWNER, table, replace(reading.plan.query, source=table_key(table)))
        values = {value for row in result.rows for value in row.values}
        assert answer in {repr(float(v)) if isinstance(v, int | float) else str(v).casefold() for v in values}


@pytest.mark.parametrize(
    ("name", "cells", "is_rank"),
    [
        ("Rank", ("1", "2", "3"), True),
        ("Pos.", ("1st", "T2", "DNF"), True),
        ("#", ("1", "2", "3"), True),
        ("No. in series", ("1", "2", "3"), True),
        ("Peak chart positions UK", ("12", "4", "—"), True),
        ("No. of votes", ("1", "2", "3"), False),
        ("# Beds", ("14", "22", "3"), False),
        ("Third place", ("1", "0", "3"), False),
        ("Ranking points", ("140", "90", "80"), False),
        ("Position", ("goalkeeper", "forward", "defender"), False),
        ("Place of birth", ("Accra", "Tema", "Ho"), False),
    ],
)
def test_a_rank_is_a_number_that_does_not_count(name: str, cells: tuple[str, ...], is_rank: bool) -> None:
    column = GridColumn(TableColumn(name, "text"), cells)
    assert column.is_rank is is_rank
