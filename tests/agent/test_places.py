"""Narrowing a place to that of a quotation: rows of a table of data, rectangles and pages of a document, characters of a text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.citations.places import locate_pieces, narrow_locator, with_rows_of
from citewell.types import Box, CellPlace, Chunk, ChunkType, Element, ElementType, JsonObject, Locator, Piece
from tests.agent.fakes import hit

_TEXT = "| Quarter | Profit |\n| --- | --- |\n| Q1 | -18100 |\n| Q2 | 40 |\n| Q3 | 1700 |"
_PLACE = Locator(sheet="Sales", row=4, row_end=7)


def _chunk(*pieces: Piece, text: str, place: Locator, type: ChunkType = ChunkType.TEXT) -> Chunk:
    return hit(text, locator=place, type=type, pieces=pieces).chunk


def _quoted(quote: str, chunk: Chunk, elements: dict[str, Element], claim: str = "") -> Locator:
    start = chunk.text.index(quote)
    return narrow_locator(chunk, start, start + len(quote), elements, claim)


def _narrowed(quote: str, metadata: JsonObject, place: Locator = _PLACE) -> Locator:
    element = Element(id="e1", type=ElementType.TABLE, text=_TEXT, locator=place, metadata=metadata)
    chunk = _chunk(Piece("e1", 0, len(_TEXT)), text=_TEXT, place=place, type=ChunkType.TABLE)
    return _quoted(quote, chunk, {"e1": element})


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


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([(5, None), (9, None)], "Rows 5, 9"),
        ([(9, None), (5, 6)], "Rows 5, 6, 9"),
        ([(5, None), (6, None)], "Rows 5-6"),
        ([(5, None), (5, None)], "Row 5"),
        ([(row, None) for row in range(2, 20, 2)], "Rows 2-18"),
        ([(5, None), (None, None)], "Row 5"),
        ([(5, None), (2, 100_000)], "Row 5"),
    ],
)
def test_a_passage_that_several_sentences_cite_is_placed_in_all_their_rows(
    rows: list[tuple[int | None, int | None]], place: str
) -> None:
    first, *others = (Locator(row=row, row_end=end) for row, end in rows)
    assert with_rows_of(first, others).place() == place


_ONE, _TWO = "First line.\nSecond line.", "  Third line."
_BOXES = (Box(3, 1.0, 1.0, 9.0, 2.0), Box(3, 1.0, 3.0, 9.0, 4.0), Box(4, 1.0, 1.0, 9.0, 2.0))


def _paragraphs(first: Locator, second: Locator) -> tuple[Chunk, dict[str, Element]]:
    """Two elements in one chunk; the first begins at its seventh character, the second is indented."""
    one = Element(id="e1", type=ElementType.PARAGRAPH, text=f"Lead. {_ONE}", locator=first, span_starts=(0, 18))
    two = Element(id="e2", type=ElementType.PARAGRAPH, text=_TWO, locator=second, span_starts=(0,))
    pieces = Piece("e1", 6, len(one.text)), Piece("e2", 0, len(_TWO))
    whole = Locator(page=3, pages=(3, 4), boxes=_BOXES, char_start=0, char_end=99)
    return _chunk(*pieces, text=f"{_ONE}\n\nThird line.", place=whole), {"e1": one, "e2": two}


@pytest.mark.parametrize(
    ("quote", "boxes", "pages"),
    [
        ("First", _BOXES[:1], (3,)),
        ("Second line.", _BOXES[1:2], (3,)),
        ("line.\nSecond", _BOXES[:2], (3,)),
        ("Third", _BOXES[2:], (4,)),
        ("line.\n\nThird", _BOXES[1:], (3, 4)),
    ],
)
def test_rectangles_and_pages_are_those_of_the_lines_that_are_quoted(
    quote: str, boxes: tuple[Box, ...], pages: tuple[int, ...]
) -> None:
    places = Locator(page=3, pages=(3,), boxes=_BOXES[:2]), Locator(page=4, pages=(4,), boxes=_BOXES[2:])
    found = _quoted(quote, *_paragraphs(*places))
    assert (found.boxes, found.page, found.pages) == (boxes, pages[0], pages)


def test_without_rectangles_the_pages_are_those_of_the_elements() -> None:
    chunk, elements = _paragraphs(Locator(page=3), Locator(page=5, pages=(4, 5)))
    assert _quoted("First", chunk, elements).pages == (3,)
    assert _quoted("Third", chunk, elements).pages == (4, 5)
    both = _quoted("Second line.\n\nThird", chunk, elements)
    assert (both.page, both.pages, both.boxes) == (3, (3, 4, 5), _BOXES)


def test_rectangles_that_do_not_belong_to_spans_are_all_kept() -> None:
    chunk, elements = _paragraphs(Locator(boxes=_BOXES), Locator())
    assert _quoted("First", chunk, elements).boxes == _BOXES


def test_characters_are_counted_from_the_beginning_of_the_file() -> None:
    chunk, elements = _paragraphs(Locator(char_start=100, char_end=130), Locator(char_start=200, char_end=213))
    assert [(p.start, low, high) for p, low, high in locate_pieces(chunk, elements)] == [(6, 0, 24), (2, 26, 37)]
    for quote, start, end in (
        ("First", 106, 111),
        ("Second line.", 118, 130),
        ("Third", 202, 207),
        ("line.\n\nThird", 125, 207),
    ):
        found = _quoted(quote, chunk, elements)
        assert (found.char_start, found.char_end) == (start, end), quote


def test_a_place_whose_elements_are_gone_stays_as_it_was() -> None:
    chunk, elements = _paragraphs(Locator(page=3, char_start=5), Locator(page=4))
    assert _quoted("First", chunk, {}) == chunk.locator
    assert _quoted("First", chunk, {"e2": elements["e2"]}) == chunk.locator
    changed = {"e1": replace(elements["e1"], text="Something else altogether."), "e2": elements["e2"]}
    assert _quoted("First", chunk, changed) == chunk.locator
    assert _quoted("Third", chunk, changed).pages == (4,)


def test_words_that_come_twice_are_those_of_their_own_piece() -> None:
    elements = {
        key: Element(id=key, type=ElementType.PARAGRAPH, text="Same words.", locator=Locator(page=page))
        for key, page in (("e1", 1), ("e2", 2))
    }
    chunk = _chunk(
        Piece("e1", 0, 11), Piece("e2", 0, 11), text="Same words.\nSame words.", place=Locator(page=1, pages=(1, 2))
    )
    assert narrow_locator(chunk, 0, 11, elements).pages == (1,)
    assert narrow_locator(chunk, 12, 23, elements).pages == (2,)
    assert narrow_locator(chunk, 11, 12, elements).pages == (1, 2)  # between the two, nothing says more


def test_rows_of_records_are_those_of_the_elements_that_are_quoted() -> None:
    elements = {
        f"e{row}": Element(
            id=f"e{row}", type=ElementType.ROW, text=f"Value: {row}", locator=Locator(sheet="S", row=row)
        )
        for row in (4, 5, 9)
    }
    chunk = _chunk(
        *(Piece(key, 0, 8) for key in elements),
        text="Value: 4\nValue: 5\nValue: 9",
        place=Locator(sheet="S", row=4, row_end=9),
    )
    for quote, first, last in (("Value: 5", 5, 5), ("Value: 4\nValue: 5", 4, 5), ("5\nValue: 9", 5, 9)):
        found = _quoted(quote, chunk, elements)
        assert (found.row, found.row_end) == (first, last)


_STATEMENT = "| | 2022 | 2021 |\n| --- | --- | --- |\n| Sales | 1,200 | 1,100 |\n| Costs | (700) | 650 |"
_GRID = (("", "2022", "2021"), ("Sales", "1,200", "1,100"), ("Costs", "(700)", "650"))


def _cell(row: int, column: int) -> Box:
    return Box(2, 100.0 * column, 20.0 * row, 100.0 * column + 40, 20.0 * row + 10)


def _cells_of(claim: str, quote: str = "| Sales | 1,200 | 1,100 |") -> tuple[Box, ...]:
    places = tuple(CellPlace(r, c, _cell(r, c)) for r, row in enumerate(_GRID) for c, text in enumerate(row) if text)
    place = Locator(page=2, pages=(2,))
    element = Element(
        id="e1", type=ElementType.TABLE, text=_STATEMENT, locator=place, grid=_GRID, header_rows=1, cells=places
    )
    chunk = _chunk(Piece("e1", 0, len(_STATEMENT)), text=_STATEMENT, place=place, type=ChunkType.TABLE)
    return _quoted(quote, chunk, {"e1": element}, claim).cell_boxes


@pytest.mark.parametrize(
    ("claim", "column"),
    [("Sales were 1,100 in the year before.", 2), ("Sales: USD 1.200", 1), ("Sales were 1200 in 2022.", 1)],
)
def test_the_cell_that_a_claim_states_is_placed_in_its_row(claim: str, column: int) -> None:
    assert _cells_of(claim) == (_cell(1, column),)


def test_a_figure_in_another_row_than_the_quoted_one_is_not_marked() -> None:
    assert _cells_of("Sales and costs: 700") == ()
    assert _cells_of("Sales and costs: 700", "| Costs | (700) | 650 |") == (_cell(2, 1),)


@pytest.mark.full
def test_a_claim_that_states_a_whole_row_or_no_figure_marks_no_cell() -> None:
    assert _cells_of("Sales; 2022: 1,200; 2021: 1,100") == ()
    assert _cells_of("Sales rose.") == ()
    assert _cells_of("") == ()


def test_what_is_said_in_a_transcript_is_cited_at_its_own_moment() -> None:
    said = [
        Element(
            id=name,
            type=ElementType.PARAGRAPH,
            text=text,
            locator=Locator(second=second, char_start=start, char_end=start + 40),
        )
        for name, text, second, start in (("a", "Ada: Good morning.", 3.0, 30), ("b", "Ben: I test it.", 68.0, 90))
    ]
    text = "\n\n".join(element.text for element in said)
    pieces = [Piece(element.id, 0, len(element.text)) for element in said]
    chunk = _chunk(*pieces, text=text, place=Locator(second=3.0, char_start=30, char_end=130))
    place = _quoted("I test it", chunk, {element.id: element for element in said})
    assert (place.label("standup.vtt"), place.char_start, place.char_end) == ("standup.vtt (1:08)", 90, 130)
