"""Figures of one unit are compared and added, others are not; numbers that name something are shown as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.agent.tables.language.cells import Grid, grid_of
from citewell.agent.tables.query.typed import TextValue
from citewell.agent.tables.run.results import shown
from citewell.types import TableColumn, TableInfo
from tests.agent.tables.sheets import Sheets, answer_of


def _grid(texts: list[str]) -> Grid:
    table = TableInfo(
        id="t0",
        resource_id="r",
        version=1,
        filename="a.csv",
        name="data",
        sheet=None,
        columns=(TableColumn("v", "text"),),
        rows=len(texts),
    )
    return grid_of(table, [((text,), number) for number, text in enumerate(texts, 2)], ())


@pytest.mark.parametrize(
    "texts",
    [
        ["2 kg", "900 g", "1.5 kg"],
        ["3 TB", "500 GB", "1 TB"],
        ["$5", "€7", "$9"],
        ["5 kr", "7 €", "3 kr"],
        ["90 min", "2 h", "45 min"],
        ["1200 CR", "3400 DR", "150 CR"],
        ["1200", "300 CR", "80"],
        ["12k", "1.2m", "900k"],
        ["5%", "7", "9"],
        ["7 in", "20 cm", "3 ft"],
        ["1.5", "2 or 3", "4"],
    ],
)
def test_figures_of_several_units_are_texts(texts: list[str]) -> None:
    assert _grid(texts).columns[0].part is None


@pytest.mark.parametrize(
    ("texts", "part", "measures"),
    [
        (["2 kg", "900 kg", "1.5 kg"], TextValue.NUMBER, (2.0, 900.0, 1.5)),
        (["1 day", "3 days", "–"], TextValue.NUMBER, (1.0, 3.0, None)),
        (["(1,200)", "5200-", "none", "30", "7", "8"], TextValue.NUMBER, (-1200.0, -5200.0, None, 30.0, 7.0, 8.0)),
        (["1.234,50 €", "7,25 €", "-3,00 €"], TextValue.DECIMAL_COMMA, (1234.5, 7.25, -3.0)),
        (["$5", "7", "$9"], TextValue.NUMBER, (5.0, 7.0, 9.0)),
        (["95¹", "410²", "12"], TextValue.NUMBER, (95.0, 410.0, 12.0)),
    ],
)
def test_figures_of_one_unit_are_numbers(texts: list[str], part: TextValue, measures: tuple[float | None, ...]) -> None:
    column = _grid(texts).columns[0]
    assert column.part is part
    assert column.measures == measures


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    made = Sheets(tmp_path)
    rows = [("Pen", 4006381333931, 12500), ("Pad", 4006381333948, 98000), ("Cap", 89490000000000000017, 700)]
    columns = {"item": "text", "ean": "integer", "salary": "integer"}
    made.add(columns, rows, filename="eans.csv", sheet=None, types={"ean": "DECIMAL(38, 0)"})  # pyright: ignore[reportArgumentType]
    return made


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("What is the ean of the Pad?", "4006381333948"),
        ("What is the ean of the Cap?", "89490000000000000017"),
        ("Which item has the highest salary?", "98,000"),
        ("What is the total salary?", "111,200"),
    ],
)
async def test_only_amounts_have_their_thousands_grouped(sheets: Sheets, question: str, held: str) -> None:
    assert held in (await answer_of(sheets, question) or "")


def test_a_computed_number_is_grouped() -> None:
    assert shown(1_234_567) == "1,234,567"
