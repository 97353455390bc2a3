"""A total row at the end of a table is known for what it is, and no row that only looks like one is left out."""

from __future__ import annotations

import pytest

from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.totals import find_total_rows, holds_subtotals
from tests.agent.tables.sheets import OWNER, Sheets

BODY = [("Accra", 100, 1.5), ("Kumasi", 250, 2.25), ("Tamale", None, 4.0)]


async def _totals(sheets: Sheets, *last: tuple[object, ...]) -> tuple[int, ...]:
    table = sheets.add({"Branch": "text", "Loans": "integer", "Amount": "number"}, [*BODY, *last])
    return await find_total_rows(TableEngine(sheets), OWNER, table)


@pytest.mark.parametrize(
    "last",
    [
        ("Total", 350, 7.75),
        ("GRAND TOTAL:", 350, 7.75),
        ("Total 2025", 350, 7.75),
        ("Summe", 350, 7.75),
        ("Total", 350, 99.0),  # called a total, and one of its figures is
        ("Total", None, 7.75),
        ("Total", 350, 7.75 * (1 + 1e-9)),
        (None, 350, 7.75),  # without the name, where every figure is a sum
        ("All branches together", 350, 7.75),
    ],
)
async def test_a_last_row_that_sums_up_the_others_is_a_total(sheets: Sheets, last: tuple[object, ...]) -> None:
    assert await _totals(sheets, last) == (5,)


@pytest.mark.parametrize(
    "last",
    [
        ("Total", 351, 7.80),  # by its name only
        ("Total", 0, 0.0),
        ("Total", None, None),
        ("Wa", 350, 1.0),  # one figure that happens to be the sum
        ("Wa", 350, None),
        ("Totality Ltd", 350, 1.0),
        ("Wa", 20, 1.0),
    ],
)
async def test_a_last_row_of_its_own_is_no_total(sheets: Sheets, last: tuple[object, ...]) -> None:
    assert await _totals(sheets, last) == ()


async def test_a_total_is_looked_for_at_the_end_only(sheets: Sheets) -> None:
    assert await _totals(sheets, ("Total", 350, 7.75), ("Wa", 1, 1.0)) == ()


async def test_a_table_of_two_rows_or_of_words_has_none(sheets: Sheets) -> None:
    engine = TableEngine(sheets)
    small = sheets.add({"Branch": "text", "Loans": "integer"}, [("Accra", 5), ("Total", 5)])
    words = sheets.add({"Branch": "text"}, [("Accra",), ("Kumasi",), ("Total",)])
    assert await find_total_rows(engine, OWNER, small) == await find_total_rows(engine, OWNER, words) == ()


async def test_sums_out_of_range_are_no_total(sheets: Sheets) -> None:
    huge = sheets.add({"n": "integer"}, [(9 * 10**37,)] * 4, types={"n": "DECIMAL(38, 0)"})
    assert await find_total_rows(TableEngine(sheets), OWNER, huge) == ()


async def test_cells_that_are_no_number_are_no_total(sheets: Sheets) -> None:
    odd = sheets.add({"a": "number", "b": "number"}, [(float("nan"), float("inf"))] * 4)
    assert await find_total_rows(TableEngine(sheets), OWNER, odd) == ()


def test_more_totals_than_the_last_row_are_subtotals() -> None:
    assert holds_subtotals({"Branch": ("Accra", "Subtotal north", "Total")}, 1)
    assert holds_subtotals({"Branch": ("Accra", "Sub-total", "Kumasi")}, 0)
    assert not holds_subtotals({"Branch": ("Accra", "Kumasi", "Total")}, 1)
    assert not holds_subtotals({"Branch": ("Totality Ltd", "Accra")}, 0)
    assert not holds_subtotals({}, 0)
