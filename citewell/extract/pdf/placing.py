"""Spans of text to rectangles on the shown page, each with the offset at which its text begins."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.extract.pdf.flow import Span, text_of
from citewell.extract.pdf.geometry import Rect
from citewell.extract.pdf.ink import Group, Ink
from citewell.extract.pdf.lines import around
from citewell.extract.pdf.turn import Turn
from citewell.extract.pdf.words import Word

Placed = list[tuple[int, Rect]]


def places(spans: Sequence[Span], turn: Turn, ink: Ink | None) -> Placed:
    """Offsets and rectangles of spans, in order; without `ink` (text that OCR read) one around each."""
    if ink is None:
        return [(span.start, turn.shown(around(span.words))) for span in spans]
    return [(_offset(span, group), group.rect) for span in spans for group in ink.groups(span.words)]


def row_places(row: Sequence[Span], start: int, turn: Turn, ink: Ink | None, *, by_cell: bool) -> Placed:
    """The same for the cells of one table row, whose text begins at `start`.

    They share a rectangle where they are read in their order, except `by_cell`: then each has its own.
    """
    if not row:
        return []
    if by_cell:
        found = places(row, turn, ink)
        return [(start, found[0][1]), *found[1:]]
    words = [word for span in row for word in span.words]
    if ink is None:
        return [(start, turn.shown(_bounds(words)))]
    owners = [(span, number) for span in row for number in range(len(span.words))]
    groups = ink.groups(words)
    return [(start, groups[0].rect)] + [
        (_offset(owners[group.word][0], group._replace(word=owners[group.word][1])), group.rect) for group in groups[1:]
    ]


def _offset(span: Span, group: Group) -> int:
    """Where the text of a span's group begins."""
    if group.word == 0:
        return span.start + group.character
    before = len(text_of(span.words[: group.word])) + span.words[group.word].space_before
    return span.start + before + group.character


def _bounds(words: Sequence[Word]) -> Rect:
    return Rect(min(w.x0 for w in words), min(w.y0 for w in words), max(w.x1 for w in words), max(w.y1 for w in words))
