"""Words that PDFium joins across a vertical line: the texts of two cells are two words, however close they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from citewell.extract.formats.pdf import native
from citewell.extract.formats.pdf.geometry import PageFrame, Rect

_MAX_LINES = 1_000
"""Vertical lines compared with the words of a page."""
_INSIDE = 1.0
"""Points from a word's ends within which a line is beside it, not in it."""
_SLACK = 0.5
"""Points by which a line may touch the letters beside it."""
_GAP = 0.25
"""Points between two letters that a line parts; letters of one word touch."""


def split_at_lines(
    address: int,
    spans: Sequence[tuple[int, int]],
    rects: npt.NDArray[np.float64],
    lines: Sequence[Rect],
    frame: PageFrame,
) -> list[tuple[int, int]]:
    """Returns the spans of words with those split that a vertical line parts between two letters.

    address: the text page's; rects: of the words, shape (n, 4); lines: thin rectangles
    """
    upright = [line for line in lines if line.height > line.width][:_MAX_LINES]
    middles = (rects[:, 1] + rects[:, 3]) / 2
    cuts: dict[int, list[float]] = {}
    for line in upright:
        at = (line.x0 + line.x1) / 2
        crossed = (
            (rects[:, 0] + _INSIDE < at) & (at < rects[:, 2] - _INSIDE) & (line.y0 < middles) & (middles < line.y1)
        )
        for index in np.flatnonzero(crossed):
            cuts.setdefault(int(index), []).append(at)
    out: list[tuple[int, int]] = []
    for index, (start, end) in enumerate(spans):
        for place in _places(address, start, end, cuts[index], frame) if index in cuts else ():
            out.append((start, place))
            start = place
        out.append((start, end))
    return out


def _places(address: int, start: int, end: int, cuts: Sequence[float], frame: PageFrame) -> list[int]:
    """Returns the characters, inside a word, that begin right of a line in the gap before them."""
    boxes = np.zeros((end - start, 4), dtype=np.float32)
    for number in range(end - start):
        native.loose_char_box(address, start + number, boxes.ctypes.data + 16 * number)
    left, top, right, bottom = boxes.T
    shown = frame.rects(left, bottom, right, top)
    found = {
        start + number
        for number in range(1, end - start)
        for at in cuts
        if shown[number, 0] - shown[number - 1, 2] > _GAP
        and shown[number - 1, 2] - _SLACK <= at <= shown[number, 0] + _SLACK
    }
    return sorted(found)
