"""Narrows a chunk's place to the rectangles, pages or characters of a quoted span, and to the cells that a claim states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from citewell.agent.citations.numbers import find_figures
from citewell.types import Box, Chunk, Element, ElementType, Locator, Piece

_HEADER_LINES = 2  # the header of a Markdown table and the rule under it
_MAX_ROWS = 1_000
"""Rows that a place spans, beyond which it is not put together with others."""


def locate_pieces(chunk: Chunk, elements: Mapping[str, Element]) -> list[tuple[Piece, int, int]]:
    """Each piece whose element is known, with the span of `chunk.text` that it fills. Pieces are verbatim and in order."""
    out: list[tuple[Piece, int, int]] = []
    cursor = 0
    for piece in chunk.pieces:
        element = elements.get(piece.element_id)
        if element is None:
            continue
        text = element.text[piece.start : piece.end].strip()
        start = chunk.text.find(text, cursor) if text else -1
        if start >= 0:
            lead = len(element.text[piece.start : piece.end]) - len(element.text[piece.start : piece.end].lstrip())
            out.append((Piece(piece.element_id, piece.start + lead, piece.end), start, start + len(text)))
            cursor = start + len(text)
    return out


def narrow_locator(chunk: Chunk, start: int, end: int, elements: Mapping[str, Element], claim: str = "") -> Locator:
    """The place of `chunk.text[start:end]`; the chunk's own place where its elements say no more.

    Of the table rows there, `cell_boxes` are the cells whose figures `claim` states.
    """
    boxes: list[Box] = []
    cells: list[Box] = []
    pages: set[int] = set()
    spans: list[tuple[int, int]] = []
    rows: list[Locator] = []
    for piece, low, high in locate_pieces(chunk, elements):
        if low >= end or high <= start:
            continue
        element = elements[piece.element_id]
        first = piece.start + max(0, start - low)
        last = piece.start + min(high, end) - low
        boxes.extend(boxes_between(element, first, last))
        cells.extend(_stated_cells(element, first, last, claim))
        pages.update(_pages(element))
        rows.append(_row_place(element, first, last))
        at = element.locator
        if at.char_start is not None and at.char_end is not None and at.second is not None:
            spans.append((at.char_start, at.char_end))  # of what is said, whose text is not that of the file
        elif at.char_start is not None:
            spans.append((at.char_start + first, at.char_start + last))
    if not rows:
        return chunk.locator
    found = sorted({box.page for box in boxes} or pages)
    place = chunk.locator
    return replace(
        place,
        boxes=tuple(boxes) or place.boxes,
        cell_boxes=tuple(cells) or place.cell_boxes,
        page=found[0] if found else place.page,
        pages=tuple(found) or place.pages,
        second=rows[0].second if rows[0].second is not None else place.second,
        char_start=min((s for s, _ in spans), default=place.char_start),
        char_end=max((e for _, e in spans), default=place.char_end),
        row=rows[0].row if rows[0].row is not None else place.row,
        row_end=(rows[-1].row_end or rows[-1].row) if rows[-1].row is not None else place.row_end,
    )


def with_rows_of(place: Locator, others: Sequence[Locator]) -> Locator:
    """The place with the rows of other places in its table added: of a passage that several sentences cite, each for a row."""
    rows: set[int] = set()
    for one in (place, *others):
        if one.row is None or (one.row_end or one.row) - one.row > _MAX_ROWS:
            return place
        rows.update(one.rows or range(one.row, (one.row_end or one.row) + 1))
    first, last = min(rows), max(rows)
    listed = () if len(rows) == last - first + 1 else tuple(sorted(rows))
    return replace(place, row=first, row_end=last if last > first else None, rows=listed)


def _row_place(element: Element, start: int, end: int) -> Locator:
    """The rows that `element.text[start:end]` touches of a data table in Markdown; else the element's own place."""
    place, text = element.locator, element.text
    if element.type is not ElementType.TABLE or place.row is None or place.row_end is None:
        return place
    lines = text.count("\n") + 1 - _HEADER_LINES
    numbers = _row_numbers(element, place.row, place.row_end, lines)
    first = text.count("\n", 0, start) - _HEADER_LINES
    last = text.count("\n", 0, max(start, end - 1)) - _HEADER_LINES
    if numbers is None or last < 0:
        return place
    return replace(place, row=numbers[max(first, 0)], row_end=numbers[last])


def _row_numbers(element: Element, first: int, last: int, lines: int) -> Sequence[int] | None:
    """The row of each line after the header; elements of earlier versions do not name them, but rows without gaps are known."""
    named = element.metadata.get("rows")
    if isinstance(named, list) and len(named) == lines:
        return [number for number in named if isinstance(number, int)]
    return range(last - lines + 1, last + 1) if last - first + 1 in (lines, lines + 1) else None


def boxes_between(element: Element, start: int, end: int) -> list[Box]:
    """Rectangles of the element's spans that `element.text[start:end]` touches."""
    boxes, starts = element.locator.boxes, element.span_starts
    if not starts or len(starts) != len(boxes):
        return list(boxes)
    ends = (*starts[1:], len(element.text))
    return [box for box, low, high in zip(boxes, starts, ends, strict=True) if low < end and high > start]


def _stated_cells(element: Element, start: int, end: int, claim: str) -> list[Box]:
    """The cells with a figure of `claim` in the rows that `element.text[start:end]` touches; none where it states whole rows."""
    if not element.cells or element.grid is None or not claim:
        return []
    # The rule, and perhaps an empty header; it counts as the first row.
    added = element.text.count("\n") + 1 - len(element.grid)
    first, last = (max(0, element.text.count("\n", 0, place) - added) for place in (start, max(start, end - 1)))
    stated = {value for figure in find_figures(claim) for value in figure.values}
    figures = [
        (cell.box, not stated.isdisjoint(value for figure in found for value in figure.values))
        for cell in element.cells
        if first <= cell.row <= last and cell.column and (found := find_figures(element.grid[cell.row][cell.column]))
    ]
    return (
        [] if all(is_stated for _, is_stated in figures) and len(figures) > 1 else [b for b, named in figures if named]
    )


def _pages(element: Element) -> tuple[int, ...]:
    locator = element.locator
    return locator.pages or ((locator.page,) if locator.page is not None else ())
