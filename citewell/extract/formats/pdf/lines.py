"""Joins words into runs (neighbors on one baseline without a wide gap) and runs into lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.extract.formats.pdf.fonts import TextStyle
from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.words import HYPHEN, Word, is_right_to_left

MARKER = re.compile(
    r"^(?:[•‣⁃◦∙·●○◘▪▫■□◆◇❖➢➤►▶▸✓✔★☆\uf0b7\uf0a7\uf0d8\uf076\uf0fc\u2013\u2014*»-]|[-–—]"
    r"|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlIVXL]{2,5})[.)]|[1-9]\d?(?:\.\d{1,2}){1,4}\.?|\(\w{1,3}\)|\[\d{1,3}\])$"
)
"""A word that opens a list item or a numbered heading, often followed by a tab."""

_PLACE = "\ufffc" * 40
"""The text of a placeholder: object replacement characters, too many to be taken for a short run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineThresholds:
    """Thresholds for joining words into runs and lines; an em is the larger font size of the two words compared.

    Set by hand on the development documents. The gap between table columns is decided elsewhere (`tables.text_grid`).

    wide_gap:       ems of a gap that ends a run: lower values cut justified lines into pieces, higher ones join narrow
                    columns
    marker_gap:     ems of the widest tab that may follow a list marker or number
    backward:       ems by which a word may overlap the previous one (kerning, accents, bold set by printing twice)
    same_row:       common share of the lower word's height for two words of a run
    same_baseline:  points by which the bottoms of two words in one style may differ for the quick test to join them
    full_size:      words smaller than this share of the line's largest are marks (superscripts, footnote numbers),
                    which do not make the line taller
    """

    wide_gap: float = 1.0
    marker_gap: float = 5.0
    backward: float = 0.5
    same_row: float = 0.5
    same_baseline: float = 1.0
    full_size: float = 0.85


THRESHOLDS = LineThresholds()


class Line(NamedTuple):
    """Words on one baseline, in reading order. `size` and `bold` are those of most of its characters."""

    words: Sequence[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    baseline: float

    @property
    def rect(self) -> Rect:
        """The line's rectangle."""
        return Rect(self.x0, self.y0, self.x1, self.y1)

    @property
    def text(self) -> str:
        """The words with the spaces between them."""
        joined = "".join([f" {w.text}" if w.space_before else w.text for w in self.words])
        return joined.strip().replace(HYPHEN, "-")

    @property
    def float_index(self) -> int | None:
        """The index of the table or image whose place this line holds; None for text."""
        return self.words[0].start if self.words[0].text == _PLACE else None

    @property
    def characters(self) -> int:
        """The number of characters in the words."""
        return sum([len(word.text) for word in self.words])


def make_line(words: Sequence[Word]) -> Line:
    """Returns the line of these words; at least one."""
    first = words[0]
    style = first.style
    if len(words) == 1:
        return Line(words, first.x0, first.y0, first.x1, first.y1, style.size, style.bold, first.y1)
    size, bold = style.size, style.bold
    if any(word.style is not style for word in words):
        weights: Counter[tuple[float, bool]] = Counter()
        for word in words:
            weights[word.style.size, word.style.bold] += len(word.text)
        size, bold = weights.most_common(1)[0][0]
        first = next(word for word in words if word.style.size == size)
    rect = around(words)
    return Line(words, rect.x0, rect.y0, rect.x1, rect.y1, size, bold, first.y1)


def around(words: Sequence[Word]) -> Rect:
    """Returns the rectangle of words on one line, not enlarged by raised and lowered marks whose centers lie in it."""
    x0, x1 = min([word.x0 for word in words]), max([word.x1 for word in words])
    largest = max([word.style.size for word in words])
    full = [word for word in words if word.style.size >= THRESHOLDS.full_size * largest]
    y0, y1 = min([word.y0 for word in full]), max([word.y1 for word in full])
    if len(full) < len(words):
        middles = [(word.y0 + word.y1) / 2 for word in words]
        y0, y1 = min(y0, *middles), max(y1, *middles)
    return Rect(x0, y0, x1, y1)


def placeholder(rect: Rect, index: int, size: float) -> Line:
    """Returns a placeholder line for a table or image among the runs, so that text flows around it."""
    word = Word(_PLACE, rect.x0, rect.y0, rect.x1, rect.y1, index, index, True, True, TextStyle("", size))
    return make_line([word])


def build_runs(words: Sequence[Word]) -> list[Line]:
    """Returns runs in content-stream order."""
    runs: list[list[Word]] = []
    previous: Word | None = None
    for word in words:
        if previous is not None and (_follows(previous, word) or _continues(runs[-1], previous, word)):
            runs[-1].append(word)
        else:
            runs.append([word])
        previous = word
    return [make_line(run) for run in runs]


def _follows(previous: Word, word: Word) -> bool:
    """Whether a word is on the same line as the previous one and right after it."""
    return (
        word.style is previous.style
        and not word.breaks
        and abs(word.y1 - previous.y1) < THRESHOLDS.same_baseline
        and 0.0 <= word.x0 - previous.x1 <= THRESHOLDS.wide_gap * word.style.size
    )


def _continues(run: list[Word], previous: Word, word: Word) -> bool:
    height = min(previous.y1 - previous.y0, word.y1 - word.y0)
    if min(previous.y1, word.y1) - max(previous.y0, word.y0) < THRESHOLDS.same_row * height:
        return False
    size = max(previous.style.size, word.style.size)
    gap = word.x0 - previous.x1
    if gap < -THRESHOLDS.backward * size:
        # Right-to-left text comes in reading order, so the next word is to the left.
        gap = previous.x0 - word.x1
        if gap < -THRESHOLDS.backward * size or not is_right_to_left(previous.text + word.text):
            return False
    if gap <= THRESHOLDS.wide_gap * size:
        return True
    return gap <= THRESHOLDS.marker_gap * size and len(run) == 1 and MARKER.match(previous.text) is not None


def rows(runs: Sequence[Line]) -> list[list[Line]]:
    """Groups runs side by side into rows, from top to bottom; each row from left to right."""
    found: list[list[Line]] = []
    bottom = middle = 0.0
    for run in sorted(runs, key=lambda run: run.baseline):
        centre = (run.y0 + run.y1) / 2
        # Compared with the row's first run, not its last: a chain of runs, each a little lower, must not swallow the next row.
        if found and (run.y0 < middle and centre < bottom):
            found[-1].append(run)
            continue
        found.append([run])
        bottom, middle = run.y1, centre
    for row in found:
        row.sort(key=lambda run: run.x0)
    return found


def join_row(row: Sequence[Line]) -> Line:
    """Joins the runs of a row into one line; right-to-left text is read from the right."""
    if len(row) == 1:
        return row[0]
    ordered = row[::-1] if is_right_to_left("".join(run.text for run in row)) else row
    words = [word for run in ordered for word in (run.words[0]._replace(space_before=True), *run.words[1:])]
    return make_line(words)
