"""Where the words of a page leave ink, and rectangles for spans of text that contain their words and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from citewell.extract.formats.pdf.geometry import Rect, Rotation
from citewell.extract.formats.pdf.lines import around
from citewell.extract.formats.pdf.running_text import Span
from citewell.extract.formats.pdf.words import Word, bounds

Rects: TypeAlias = npt.NDArray[np.float64]
"""Shape (n, 4): x0, y0, x1, y1 on the shown page; NaN where there is no ink."""


class Group(NamedTuple):
    """A rectangle and where its text begins: a word index in its span, and a character index in that word."""

    word: int
    character: int
    rect: Rect


Pieces: TypeAlias = Sequence[tuple[int, Rect]]
"""Rectangles of a word's parts, each with the index of its first character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InkThresholds:
    """Thresholds for reading ink, also used by `ink_reading`. Lengths are in points; the rest bounds the work per page.
    Measured by `benchmarks/locators.py`.

    margin:        how much smaller a rectangle is than its ink on each side, so that rounding does not make it touch
                   its neighbors
    overlap:       how far a word may reach back into the previous one on its line: kerning, not another column
    flat:          height or width up to which a glyph has no outline that PDFium knows (bitmap fonts, spaces)
    max_near:      rectangles around a span that are compared with it
    max_units:     lines of a page; beyond that, rectangles come from the font's boxes alone
    max_pairs:     pairs of touching words; beyond that, none is separated from the others
    max_glyphs:    glyphs of a word that is separated from others
    max_others:    glyphs of other words around it
    rows_at_once:  rectangles compared with all others in one numpy step
    """

    margin: float = 0.02
    overlap: float = 0.5
    flat: float = 0.03
    max_near: int = 400
    max_units: int = 10_000
    max_pairs: int = 20_000
    max_glyphs: int = 60
    max_others: int = 300
    rows_at_once: int = 64


THRESHOLDS = InkThresholds()


class Unit(NamedTuple):
    """Consecutive words on one line: indices first..last. `apart`: no other ink touches its rectangle."""

    first: int
    last: int
    y0: float
    y1: float
    apart: bool


class Ink:
    """The ink of one page's words: around their glyphs, not their font's boxes.

    A PDF viewer finds in a rectangle every glyph that touches it, in the order of PDFium's text. A span therefore has
    one rectangle if that touches only its own words, in order, and otherwise as few as possible.
    """

    def __init__(
        self, words: Sequence[Word], rects: Rects, unit_of: Sequence[Unit], clear: Mapping[int, Pieces]
    ) -> None:
        """Takes words in PDFium's order with their rectangles and units; `rects` may end with ink that belongs to no
        word.

        clear holds, for words whose rectangles touch others', rectangles that touch only their own glyphs.
        """
        self._index = {word.start: index for index, word in enumerate(words)}
        self._rects = rects
        self._left: list[float] = rects[:, 0].tolist()
        self._right: list[float] = rects[:, 2].tolist()
        self._unit_of = unit_of
        self._clear = clear

    def groups(self, span: Sequence[Word]) -> list[Group]:
        """Returns rectangles in the order of the span's text."""
        first, last = self._index[span[0].start], self._index[span[-1].start]
        unit = self._unit_of[first]
        if unit.apart and last - first == len(span) - 1 and last <= unit.last:
            return [Group(0, 0, Rect(self._left[first], unit.y0, self._right[last], unit.y1))]
        return self._divided(span, [self._index[word.start] for word in span])

    def _divided(self, span: Sequence[Word], place: list[int]) -> list[Group]:
        rects: list[list[float]] = self._rects[place].tolist()
        near = self._near(place)
        runs: list[tuple[int, list[int], list[float]]] = []
        for number, (index, rect) in enumerate(zip(place, rects, strict=True)):
            if runs and index > runs[-1][1][-1] and not span[number].breaks:
                _, members, around = runs[-1]
                union = _union(around, rect)
                if not _meets_another(union, near, {*members, index}):
                    members.append(index)
                    around[:] = union
                    continue
            runs.append((number, [index], rect))
        return [group for number, members, around in runs for group in self._of_run(span, number, members, around)]

    def _of_run(
        self, span: Sequence[Word], number: int, members: Sequence[int], around: Sequence[float]
    ) -> list[Group]:
        if len(members) == 1 and members[0] in self._clear:
            return [Group(number, character, rect) for character, rect in self._clear[members[0]]]
        return [Group(number, 0, span[number].rect if np.isnan(around[0]) else inset(around))]

    def _near(self, place: list[int]) -> list[tuple[int, list[float]]]:
        """Returns index and rectangle of all ink that touches the span's rectangle; nothing if there is too much."""
        rects = self._rects[place]
        whole = np.concatenate([np.fmin.reduce(rects[:, :2]), np.fmax.reduce(rects[:, 2:])])
        indices = np.flatnonzero(touching(whole[None], self._rects)[0])
        if len(indices) > THRESHOLDS.max_near:
            return []
        return list(zip(indices.tolist(), self._rects[indices].tolist(), strict=True))


def touching(some: Rects, others: Rects) -> npt.NDArray[np.bool_]:
    """Returns which rectangles of `some` (rows) touch which of `others` (columns)."""
    x0, y0, x1, y1 = others.T
    return (x0 < some[:, 2:3]) & (x1 > some[:, 0:1]) & (y0 < some[:, 3:4]) & (y1 > some[:, 1:2])


def inset(rect: Sequence[float]) -> Rect:
    """Returns the rectangle, smaller by the margin on each side."""
    return Rect(
        rect[0] + THRESHOLDS.margin,
        rect[1] + THRESHOLDS.margin,
        rect[2] - THRESHOLDS.margin,
        rect[3] - THRESHOLDS.margin,
    )


def _union(a: Sequence[float], b: Sequence[float]) -> list[float]:
    if np.isnan(a[0]) or np.isnan(b[0]):
        return list(a if np.isnan(b[0]) else b)
    return [min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])]


def _meets_another(rect: Sequence[float], near: Sequence[tuple[int, list[float]]], members: set[int]) -> bool:
    x0, y0, x1, y1 = (
        rect[0] + THRESHOLDS.margin,
        rect[1] + THRESHOLDS.margin,
        rect[2] - THRESHOLDS.margin,
        rect[3] - THRESHOLDS.margin,
    )
    return any(
        other[0] < x1 and other[2] > x0 and other[1] < y1 and other[3] > y0 and index not in members
        for index, other in near
    )


Placed = list[tuple[int, Rect]]


def places(spans: Sequence[Span], rotation: Rotation, ink: Ink | None) -> Placed:
    """Returns offsets and rectangles of spans, in order; without `ink` (OCR text), one rectangle around each."""
    if ink is None:
        return [(span.start, rotation.shown(around(span.words))) for span in spans]
    found: Placed = []
    for span in spans:
        groups = ink.groups(span.words)
        offsets = [span.start] if len(groups) == 1 else _offsets(span)
        found += [(offsets[group.word] + group.character, group.rect) for group in groups]
    return found


def row_places(row: Sequence[Span], start: int, rotation: Rotation, ink: Ink | None, *, by_cell: bool) -> Placed:
    """Like `places`, for the cells of one table row, whose text begins at `start`.

    Cells read in order share a rectangle, except with `by_cell`, which gives each its own.
    """
    if not row:
        return []
    if by_cell:
        found = places(row, rotation, ink)
        return [(start, found[0][1]), *found[1:]]
    words = [word for span in row for word in span.words]
    if ink is None:
        return [(start, rotation.shown(bounds(words)))]
    offsets = [offset for span in row for offset in _offsets(span)]
    groups = ink.groups(words)
    return [(start, groups[0].rect)] + [(offsets[group.word] + group.character, group.rect) for group in groups[1:]]


def _offsets(span: Span) -> list[int]:
    """Returns where the text of each of a span's words begins."""
    found = [span.start]
    for before, word in pairwise(span.words):
        found.append(found[-1] + len(before.text) + word.space_before)
    return found
