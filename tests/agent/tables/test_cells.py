"""What the cells of small tables hold: numbers, dates and times however they are written, and ranks that count nothing."""

from __future__ import annotations

import pytest

from citewell.agent.tables.language.cells import GridColumn, date_in, grid_of, number_in, seconds_in
from citewell.agent.tables.query.typed import TextValue
from citewell.types import ColumnKind, TableColumn
from tests.agent.tables.sheets import Sheets

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


def test_columns_of_texts_are_known_by_what_they_hold(sheets: Sheets) -> None:
    table = sheets.add(COLUMNS, ROWS, filename="Ships.csv", sheet=None)
    grid = grid_of(table, [(row, number) for number, row in enumerate(ROWS, start=2)], ())
    assert {column.name: column.part for column in grid.columns} == {
        "Ship": None,
        "Launched": TextValue.DATE,
        "Port": None,
        "Crew": TextValue.NUMBER,
        "Length (m)": None,
    }


def test_numbers_and_dates_in_texts() -> None:
    texts = ("£3.00", "13,845 ft", "2 345 097", "none", "−5")
    assert [number_in(text) for text in texts] == [3.0, 13845.0, 2345097.0, None, -5.0]
    dates = ("14 June 2005", "March 9, 1920", "03/04/2005", "2005")
    assert [date_in(text) is not None for text in dates] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "seconds"), [("3:25", 205.0), ("1:00:02.5", 3602.5), ("3:25*", 205.0), ("a 3:25 b", None), ("325", None)]
)
def test_times_in_texts(text: str, seconds: float | None) -> None:
    assert seconds_in(text) == seconds


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
