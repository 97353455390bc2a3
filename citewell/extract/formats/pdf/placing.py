"""Spans of text to rectangles on the shown page, each with the offset at which its text begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from citewell.extract.formats.pdf.flow import Span
from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.ink import Ink
from citewell.extract.formats.pdf.lines import around
from citewell.extract.formats.pdf.turn import Turn
from citewell.extract.formats.pdf.words import Word

Placed = list[tuple[int, Rect]]


def places(spans: Sequence[Span], turn: Turn, ink: Ink | None) -> Placed:
    """Offsets and rectangles of spans, in order; without `ink` (text that OCR read) one around each."""
    if ink is None:
        return [(span.start, turn.shown(around(span.words))) for span in spans]
    found: Placed = []
    for span in spans:
        groups = ink.groups(span.words)
        offsets = [span.start] if len(groups) == 1 else _offsets(span)
        found += [(offsets[group.word] + group.character, group.rect) for group in groups]
    return found


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
    offsets = [offset for span in row for offset in _offsets(span)]
    groups = ink.groups(words)
    return [(start, groups[0].rect)] + [(offsets[group.word] + group.character, group.rect) for group in groups[1:]]


def _offsets(span: Span) -> list[int]:
    """Where the text of each of a span's words begins."""
    found = [span.start]
    for before, word in pairwise(span.words):
        found.append(found[-1] + len(before.text) + word.space_before)
    return found


def _bounds(words: Sequence[Word]) -> Rect:
    return Rect(min(w.x0 for w in words), min(w.y0 for w in words), max(w.x1 for w in words), max(w.y1 for w in words))
