"""Narrowing a place: the rows of a table of data that a quotation comes from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.citations.places import narrow
from citewell.types import Chunk, ChunkType, Element, ElementType, JsonObject, Locator, Piece

_TEXT = "| Quarter | Profit |\n| --- | --- |\n| Q1 | -18100 |\n| Q2 | 40 |\n| Q3 | 1700 |"
_PLACE = Locator(sheet="Sales", row=4, row_end=7)


def _narrowed(quote: str, metadata: JsonObject, place: Locator = _PLACE) -> Locator:
    element = Element(id="e1", type=ElementType.TABLE, text=_TEXT, locator=place, metadata=metadata)
    chunk = Chunk(
        id="c",
        owner_id="ada",
        resource_id="r",
        version=1,
        ordinal=0,
        type=ChunkType.TABLE,
        text=_TEXT,
        locator=place,
        pieces=(Piece("e1", 0, len(_TEXT)),),
    )
    start = _TEXT.index(quote)
    return narrow(chunk, start, start + len(quote), {"e1": element})


@pytest.mark.parametrize(
    ("quote", "label"),
    [
        ("| Q1 | -18100 |", 'Sheet "Sales", Row 5'),
        ("40", 'Sheet "Sales", Row 6'),
        ("| Q3 | 1700 |", 'Sheet "Sales", Row 9'),
        ("| Q1 | -18100 |\n| Q2 | 40 |", 'Sheet "Sales", Rows 5-6'),
        ("Q2 | 40 |\n| Q3", 'Sheet "Sales", Rows 6-9'),
        ("| Quarter | Profit |", 'Sheet "Sales", Rows 4-9'),
    ],
)
def test_a_quotation_is_placed_in_its_own_rows_also_where_rows_are_missing(quote: str, label: str) -> None:
    assert _narrowed(quote, {"rows": [5, 6, 9]}, replace(_PLACE, row_end=9)).place() == label


@pytest.mark.parametrize(("first", "row"), [(4, 6), (5, 6)])
def test_rows_without_gaps_are_known_without_being_named(first: int, row: int) -> None:
    """As in files that an earlier version has read, with a header row or without."""
    assert _narrowed("| Q2 | 40 |", {}, replace(_PLACE, row=first)).row == row


def test_rows_with_gaps_that_are_not_named_stay_a_range() -> None:
    place = _narrowed("| Q2 | 40 |", {}, replace(_PLACE, row_end=20))
    assert (place.row, place.row_end) == (4, 20)
