"""Rectangles for a word whose glyphs stand among those of others: less high, less wide, or one for each of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.ink import MARGIN, Pieces, inset

Box: TypeAlias = tuple[float, float, float, float]
Glyph: TypeAlias = tuple[int, Box]
"""The number of a character in its word, and x0, y0, x1, y1 of its glyph."""

_MOST_GLYPHS = 60
_MOST_OTHERS = 300


def clear_pieces(own: Sequence[Glyph], others: Sequence[Box]) -> Pieces:
    """Rectangles that touch all of the word's own glyphs and no others', each with its first character; at least one glyph.

    One for the word where that can be, else one for each of its parts. What stands right on top of other glyphs keeps its rectangle.
    """
    whole = _around([box for _, box in own])
    foreign = [box for box in others if _touch(box, whole)]
    if len(own) > _MOST_GLYPHS or len(foreign) > _MOST_OTHERS:
        return [(0, inset(whole))]
    rect = _narrowed(whole, [box for _, box in own], foreign)
    if rect or len(own) == 1:
        return [(0, rect or inset(whole))]
    pieces: list[tuple[int, Rect]] = []
    for run in _runs(own, foreign):
        boxes = [box for _, box in run]
        around = _around(boxes)
        near = [box for box in (*foreign, *(box for _, box in own)) if _touch(box, around) and box not in boxes]
        narrowed = _narrowed(around, boxes, near)
        if narrowed is None:
            return [(0, inset(whole))]
        pieces.append((run[0][0] if pieces else 0, narrowed))
    return pieces


def _runs(own: Sequence[Glyph], foreign: Sequence[Box]) -> list[list[Glyph]]:
    """Glyphs in order, as many together as touch no others."""
    runs: list[list[Glyph]] = []
    for glyph in own:
        if runs and glyph[1] == runs[-1][-1][1]:  # a ligature's letters
            runs[-1].append(glyph)
            continue
        if runs:
            around = _around([box for _, box in (*runs[-1], glyph)])
            besides = (other for other in own if other is not glyph and other not in runs[-1])
            if not any(_touch(box, around) for box in foreign) and not any(_touch(b, around) for _, b in besides):
                runs[-1].append(glyph)
                continue
        runs.append([glyph])
    return runs


def _around(boxes: Sequence[Box]) -> Box:
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def _touch(a: Box, b: Box) -> bool:
    return a[0] < b[2] - MARGIN and a[2] > b[0] + MARGIN and a[1] < b[3] - MARGIN and a[3] > b[1] + MARGIN


def _narrowed(whole: Box, own: Sequence[Box], foreign: Sequence[Box]) -> Rect | None:
    """The rectangle made less high, else less wide, until it touches its own glyphs alone; None when it cannot."""
    if not foreign:
        return inset(whole)
    for low, high in ((1, 3), (0, 2)):
        band = _free_band([(box[low], box[high]) for box in own], [(box[low], box[high]) for box in foreign])
        if band:
            narrowed = list(whole)
            narrowed[low], narrowed[high] = band
            return inset(narrowed)
    return None


def _free_band(own: Sequence[tuple[float, float]], taken: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The widest band that touches all of `own` and none of `taken`."""
    start, most = min(low for low, _ in own), max(high for _, high in own)
    highest, lowest = max(low for low, _ in own), min(high for _, high in own)
    best: tuple[float, float] | None = None
    for low, high in [*sorted(taken), (most, most)]:
        end = min(low, most)
        reaches = end - highest > 3 * MARGIN and lowest - start > 3 * MARGIN
        if end - start > 4 * MARGIN and reaches and (best is None or end - start > best[1] - best[0]):
            best = start, end
        start = max(start, high)
    return best
