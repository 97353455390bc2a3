"""Raised marks in the words of a page: written as superscripts, and joined to the word that they are attached to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from citewell.extract.core.raised import raised
from citewell.extract.formats.pdf import native

_PUNCTUATED = re.compile(r"\S\d[^\w\s]{1,3}$")
_MAX_WORD = 40
"""Characters of the longest word that is looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkThresholds:
    """Thresholds for raised marks. Set by hand: word processors raise superscripts by a third of an em.

    rise:   share of a character's height by which a raised one's bottom is above the bottom of the others
    size:   share of the neighbor's font size up to which a separate word is a mark
    gap:    ems between a mark and the word that it is attached to, at most
    touch:  ems between a mark and the punctuation right after it, at most
    """

    rise: float = 0.15
    size: float = 0.85
    gap: float = 0.35
    touch: float = 0.1


THRESHOLDS = MarkThresholds()


def with_superscripts(
    address: int, texts: Sequence[str], starts: Sequence[int], ends: npt.NDArray[np.float32], straight: Sequence[bool]
) -> list[str]:
    """Returns the words' texts with raised characters as superscripts; only of text that runs to the right.

    address: of PDFium's text page; starts: of each word in it; ends: boxes of each word's first and last character;
    straight: whether each word is not slanted
    """
    out = list(texts)
    left, top, right, bottom = (ends[:, :, i] for i in range(4))
    across, up = left + right, bottom + top
    level = across[:, 1] - across[:, 0] > np.abs(up[:, 1] - up[:, 0])
    apart = np.abs(bottom[:, 0] - bottom[:, 1]) > THRESHOLDS.rise * (top - bottom).max(axis=1)
    for index in np.flatnonzero(np.array(straight) & level & (apart | _ends_in_sign(texts))).tolist():
        if len(texts[index]) <= _MAX_WORD:
            boxes = list(_bottoms(address, starts[index], len(texts[index])))
            out[index] = "".join(_pieces(texts[index], boxes))
    return out


def _ends_in_sign(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether a digit comes before the punctuation at a word's end: `240¹.`."""
    return np.array(
        [not text[-1].isalnum() and _PUNCTUATED.search(text[-5:]) is not None for text in texts], dtype=bool
    )


def _bottoms(address: int, start: int, count: int) -> Iterator[tuple[float, float]]:
    """Yields the bottom and height of each character's box."""
    box = np.zeros(4, dtype=np.float32)
    for at in range(start, start + count):
        native.loose_char_box(address, at, box.ctypes.data)
        yield float(box[3]), float(box[1] - box[3])


def _pieces(text: str, boxes: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yields the parts of a word that are on the baseline, and those above it as superscripts."""
    full = max(height for _, height in boxes)
    base = next(bottom for bottom, height in boxes if height >= THRESHOLDS.size * full)
    up = [bottom > base + THRESHOLDS.rise * full for bottom, _ in boxes]
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or up[at] != up[start]:
            yield raised(text[start:at]) if up[start] else text[start:at]
            start = at
