"""Values as people write them, and the passages that a result can be cited by: each names the rows it came from."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.tables.query.typed import (
    Aggregate,
    ColumnRef,
    Comparator,
    DatePart,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import ResultRow, RowFacts, TableEngine, TableResult
from citewell.agent.tables.run.results import (
    condition_words,
    format_number,
    result_text,
    row_hits,
    row_words,
    shown,
    statement,
)
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (0, "0"),
        (9_999, "9999"),
        (10_000, "10,000"),
        (-1_234_567, "-1,234,567"),
        (10_000.0, "10,000"),
        (0.1 + 0.2, "0.3"),
        (-0.5, "-0.5"),
        (12_345.50, "12,345.5"),
        (-12_345.678, "-12,345.678"),
        (1e-7, "0.0000001"),
        (2.0, "2"),
        (1e20, "100,000,000,000,000,000,000"),
        (Decimal("12345.670"), "12,345.67"),
        (date(2024, 1, 31), "2024-01-31"),
        (datetime(2024, 1, 31), "2024-01-31"),
        (datetime(2024, 1, 31, 8, 30), "2024-01-31 08:30:00"),
        (time(8, 30), "08:30:00"),
        ("a text", "a text"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_values_are_written_as_people_write_them(value: Any, text: str) -> None:
    assert shown(value) == text


@given(st.one_of(st.floats(), st.integers(-(10**40), 10**40), st.decimals(-(10**30), 10**30, places=8)))
def test_any_number_can_be_shown_and_read_back(value: float | Decimal) -> None:
    back = float(format_number(value).replace(",", ""))
    if not math.isnan(value):
        assert back == pytest.approx(float(value), rel=1e-11)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (RowFacts(0, None, None, ()), "no rows"),
        (RowFacts(1, 5, 5, (5,)), "row 5"),
        (RowFacts(3, 4, 12, (4, 9, 12)), "3 rows: 4, 9, 12"),
        (RowFacts(3, 4, 6, (4, 5, 6)), "3 rows, 4-6"),
        (RowFacts(13, 2, 40, tuple(range(2, 28, 2))), "13 rows, 2-40"),
        (RowFacts(1200, 2, 1300, tuple(range(2, 52))), "1,200 rows, 2-1300"),
    ],
)
def test_rows_are_named_briefly(facts: RowFacts, words: str) -> None:
    assert row_words(facts) == words


async def _listed(sheets: Sheets, *columns: str, **parts: Any) -> TableResult:
    table = sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    return await TableEngine(sheets).run(OWNER, table, TableQuery(source="t", columns=columns, **parts))


async def test_a_row_is_cited_where_it_stands(sheets: Sheets) -> None:
    result = await _listed(sheets, "Borrower", "Amount (GHS)")
    hits = row_hits(OWNER, result)
    assert [hit.chunk.locator.row for hit in hits] == [2, 3, 4, 5, 6, 7]
    assert hits[0].chunk.text == "Borrower: Ama Mensah | Amount (GHS): 5000.5"
    assert hits[4].chunk.text == "Borrower: Akua Asante"
    assert hits[0].chunk.locator.label(hits[0].filename) == 'Loans.xlsx (Sheet "Loans", Row 2)'
    assert {hit.chunk.owner_id for hit in hits} == {OWNER}


async def test_rows_that_read_the_same_are_cited_each_by_itself(sheets: Sheets) -> None:
    paid = RowCondition(ColumnRef("Status"), Comparator.EQ, "paid")
    hits = row_hits(OWNER, await _listed(sheets, "Status", conditions=(paid,)))
    assert [hit.chunk.text for hit in hits] == ["Status: paid"] * 2
    assert [hit.chunk.locator.row for hit in hits] == [2, 5]
    assert len({hit.chunk.id for hit in hits}) == 2


async def test_the_same_row_has_the_same_id_in_the_next_answer(sheets: Sheets) -> None:
    first = row_hits(OWNER, await _listed(sheets, "Status"))
    sheets.tables.clear()
    again = row_hits(OWNER, await _listed(sheets, "Status", order=(Order("Status"),)))
    assert {hit.chunk.id for hit in first} == {hit.chunk.id for hit in again}


async def test_a_figure_is_cited_with_its_rows_and_conditions(sheets: Sheets) -> None:
    table = sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    conditions = (
        RowCondition(ColumnRef("Disbursed", DatePart.YEAR), Comparator.IN, (2024, 2025)),
        RowCondition(ColumnRef("Amount (GHS)"), Comparator.GT, 10_000),
        RowCondition(ColumnRef("Borrower"), Comparator.NOT_EMPTY),
        RowCondition(ColumnRef(ROW_COLUMN), Comparator.NOT_IN, (8,)),
    )
    query = TableQuery(source="t", conditions=conditions, aggregates=(Aggregate(Function.SUM, "Amount (GHS)"),))
    result = await TableEngine(sheets).run(OWNER, table, query)
    words = ["year of Disbursed in 2024, 2025", "Amount (GHS) gt 10,000", "Borrower not empty"]
    assert condition_words(result) == words
    (hit,) = row_hits(OWNER, result)
    assert hit.chunk.text == f"Total of Amount (GHS): 24,000 (2 rows: 3, 5; where {'; '.join(words)})"
    assert (hit.chunk.locator.sheet, hit.chunk.locator.row, hit.chunk.locator.row_end) == ("Loans", 3, 5)
    assert hit.chunk.metadata["rows"] == [3, 5]
    assert hit.chunk.metadata["row_count"] == 2
    assert hit.chunk.metadata["query"] == query.to_json()


async def test_a_model_reads_each_row_with_the_number_to_cite_it_by(sheets: Sheets) -> None:
    columns = {"n": "integer", "x": "number", "d": "date"}
    rows: list[tuple[object, ...]] = [(n, n / 3, "2024-01-31") for n in range(THRESHOLDS.cited_rows + 1)]
    rows[0] = (None, float("nan"), None)
    table = sheets.add(columns, rows)  # type: ignore[arg-type]
    result = await TableEngine(sheets).run(OWNER, table, TableQuery(source="t"))
    assert len(row_hits(OWNER, result)) == THRESHOLDS.cited_rows
    lines = result_text(result, [7, 8]).splitlines()
    assert json.loads(lines[0], parse_constant=_not_json) == {
        "cite": 7,
        "n": None,
        "x": None,
        "d": None,
        "rows": "row 2",
    }
    assert json.loads(lines[1]) == {"cite": 8, "n": 1, "x": 0.333333333333, "d": "2024-01-31", "rows": "row 3"}
    assert "cite" not in json.loads(lines[2])
    assert len(lines) == THRESHOLDS.cited_rows + 1


def _not_json(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


async def test_no_row_is_said_in_words(sheets: Sheets) -> None:
    nowhere = RowCondition(ColumnRef("Status"), Comparator.EQ, "lost")
    result = await _listed(sheets, conditions=(nowhere,))
    assert result_text(result, []) == "No row meets the conditions."
    assert row_hits(OWNER, result) == ()


async def test_empty_cells_are_left_out_of_a_statement(sheets: Sheets) -> None:
    result = await _listed(sheets, "Borrower", "Insured")
    empty = ResultRow(("Yaw Darko", None), RowFacts(1, 5, 5, (5,)))
    assert statement(result, empty) == "Borrower: Yaw Darko"
