"""Text that does not run left to right on the shown page: turned upright for reading, its rectangles turned back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.geometry import FULL_TURN, QUARTER, Rect
from citewell.extract.formats.pdf.words import Word

_SNAP = 1
_BUCKET = 3
_HALF_HEIGHT = 0.6
_HALF_ADVANCE = 0.3
_EXACT: dict[float, tuple[float, float]] = {0: (1.0, 0.0), 90: (0.0, 1.0), 180: (-1.0, 0.0), 270: (0.0, -1.0)}


@dataclass(frozen=True, slots=True)
class Turn:
    """A rotation by `angle` degrees clockwise about the origin, which makes text of that angle upright."""

    angle: float
    cosine: float
    sine: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Shown page to upright frame."""
        return x * self.cosine - y * self.sine, x * self.sine + y * self.cosine

    def shown_point(self, u: float, v: float) -> tuple[float, float]:
        """Upright frame to shown page."""
        return u * self.cosine + v * self.sine, v * self.cosine - u * self.sine

    def upright(self, rect: Rect) -> Rect:
        """The smallest upright rectangle around a rectangle of the shown page."""
        return rect if self.angle == 0 else _around([self.point(x, y) for x, y in _corners(rect)])

    def shown(self, rect: Rect) -> Rect:
        """The smallest rectangle of the shown page around an upright one."""
        return rect if self.angle == 0 else _around([self.shown_point(x, y) for x, y in _corners(rect)])

    def word(self, word: Word) -> Word:
        """The word in the upright frame."""
        if self.angle == 0:
            return word
        rect = self.upright(word.rect) if self.angle % QUARTER == 0 else self._slanted(word)
        return word._replace(x0=rect.x0, y0=rect.y0, x1=rect.x1, y1=rect.y1)

    def _slanted(self, word: Word) -> Rect:
        """From the middle line of the word, since its bounding box is larger than the word."""
        size = word.style.size
        width, height = word.x1 - word.x0, word.y1 - word.y0
        thick = 2 * _HALF_HEIGHT * size
        along = max(_HALF_ADVANCE * size, math.hypot(width, height) / 2 - thick * abs(self.cosine * self.sine) / 2)
        u, v = self.point((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
        return Rect(u - along, v - _HALF_HEIGHT * size, u + along, v + _HALF_HEIGHT * size)


def turn_of(angle: float) -> Turn:
    """The turn that makes text of this angle (degrees counter-clockwise) upright."""
    cosine, sine = _EXACT.get(angle) or (math.cos(math.radians(angle)), math.sin(math.radians(angle)))
    return Turn(angle, cosine, sine)


def by_direction(words: Sequence[Word]) -> list[tuple[Turn, list[Word]]]:
    """The words of each direction, turned upright; the direction with the most characters comes first."""
    groups: dict[int, list[Word]] = {}
    for word in words:
        groups.setdefault(word.style.angle, []).append(word)
    if list(groups) == [0]:
        return [(turn_of(0), list(words))]
    merged: dict[int, list[Word]] = {}
    for angle, members in groups.items():
        merged.setdefault(_snapped(angle), []).extend(members)
    ordered = sorted(merged.items(), key=lambda item: -sum(len(word.text) for word in item[1]))
    return [_upright(turn_of(angle), members) for angle, members in ordered]


def _upright(turn: Turn, words: list[Word]) -> tuple[Turn, list[Word]]:
    return turn, [turn.word(word) for word in sorted(words, key=lambda word: word.start)]


def _snapped(angle: int) -> int:
    quarter = round(angle / QUARTER) * QUARTER
    if abs(angle - quarter) <= _SNAP:
        return quarter % FULL_TURN
    return round(angle / _BUCKET) * _BUCKET % FULL_TURN


def _corners(rect: Rect) -> list[tuple[float, float]]:
    return [(rect.x0, rect.y0), (rect.x1, rect.y0), (rect.x1, rect.y1), (rect.x0, rect.y1)]


def _around(points: list[tuple[float, float]]) -> Rect:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Rect(min(xs), min(ys), max(xs), max(ys))
