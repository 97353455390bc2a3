"""Questions that a reader of tables puts to the tables on pages."""

from __future__ import annotations

import pytest

from citewell.agent.tables.lookup.answer import LookupAnswer
from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.types.table_reading import ColumnRole, NumberUse, RowOperation, ValueUse
from tests.agent.tables.lookup.statements import Files, table
from tests.agent.tables.meaning.says import Says

FLATS = (
    ("Flat", "Rooms", "Net rent CHF", "Garage", "Free from"),
    ("A-01", "4", "1,540", "yes", "1 May 2026"),
    ("B-07", "3", "1,292", "no", "1 June 2026"),
    ("C-03", "1", "515.50", "no", ""),
)


async def answered(question: str, says: Says, grid: tuple[tuple[str, ...], ...] = FLATS) -> LookupAnswer | None:
    files = Files(prices=(table(1, grid, "Rents 2026"),))
    return await TableLookup(files, reader=says).answer("ada", question, files.scope, ())


@pytest.mark.parametrize(
    ("question", "says", "answer"),
    [
        (
            "which home is the cheapest",
            Says(
                RowOperation.EXTREME, {"Net rent CHF": ColumnRole.MEASURE, "Flat": ColumnRole.ANSWER}, descending=False
            ),
            "Net rent CHF was lowest for C-03: 515.5 [1].",
        ),
        (
            "what do you ask for seven in the second house",
            Says(RowOperation.LOOKUP, {"Net rent CHF": ColumnRole.ANSWER}, {"B-07": ValueUse.IS}),
            "Net rent CHF for B-07: 1,292 [1].",
        ),
        (
            "how many with over two rooms",
            Says(RowOperation.COUNT, {}, {}, [(NumberUse.GT, "Rooms")]),
            "There are 2 rows in “Rents 2026” where Rooms is over 2 [1].",
        ),
        (
            "where can a car be put",
            Says(RowOperation.FILTER, {"Flat": ColumnRole.ANSWER}, {"yes": ValueUse.IS}),
            "The Flat where Garage is yes is A-01 [1].",
        ),
        (
            "which cannot be had yet",
            Says(RowOperation.FILTER, {"Flat": ColumnRole.ANSWER, "Free from": ColumnRole.EMPTY}),
            "The Flat where Free from is empty is C-03 [1].",
        ),
    ],
)
async def test_a_table_on_a_page_is_queried_as_a_sheet_is(question: str, says: Says, answer: str) -> None:
    found = await answered(question, says)
    assert found is not None
    assert found.text == answer
    assert 0.5 < found.chance < 1.0
    assert {hit.chunk.context for hit in found.hits} == {"Rents 2026"}


async def test_the_columns_are_typed() -> None:
    says = Says(RowOperation.COUNT)
    await answered("how many flats", says)
    kinds = {column.name: column.kind for column in says.shown[0].columns}
    assert kinds == {"Flat": "text", "Rooms": "number", "Net rent CHF": "number", "Garage": "text", "Free from": "date"}
    assert says.shown[0].title == "prices Rents 2026"


async def test_rows_with_a_total_are_not_added_up() -> None:
    grid = (("Item", "Cost"), ("Roof", "100"), ("Door", "50"), ("Wall", "30"), ("Total", "180"))
    says = Says(RowOperation.SUM, {"Cost": ColumnRole.MEASURE})
    assert await answered("what did it all cost", says, grid) is None


async def test_no_table_is_read_that_is_not_meant() -> None:
    assert await answered("who swept the yard", Says(RowOperation.COUNT, meant=-8.0)) is None


async def test_a_table_that_cannot_be_read_ends_no_question() -> None:
    class Fails(Says):
        def read(self, *_: object, **__: object) -> None:  # type: ignore[override]
            raise ValueError("no such output")

    assert await answered("how many flats", Fails(RowOperation.COUNT)) is None
