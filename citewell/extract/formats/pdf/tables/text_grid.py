"""The text of a table region as rows of pieces, and the columns that the rows share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from citewell.extract.formats.pdf.lines import Line, make_line, rows
from citewell.extract.formats.pdf.tables.model import is_numeric
from citewell.extract.formats.pdf.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGridThresholds:
    """Thresholds of cutting rows into pieces and finding columns; an em is the font size.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    gap:              ems between words from which they are two pieces: smaller values cut cells at wide spaces, larger ones
                      join cells of narrow columns
    trailing_gap:     ems by which a percent sign may follow its figure
    noise:            share of rows that may reach across the strip between two columns
    narrowest_strip:  ems between two columns of figures that are a mere space apart
    filled:           share of rows with words on both sides that parting such columns takes
    figures:          share of figures on either side that it takes
    min_rows:         rows with several words that it takes
    slack:            points by which words may reach over the edge of a column or over a line
    wall_inset:       points inside of a column from which a vertical line cuts it
    """

    gap: float = 0.85
    trailing_gap: float = 1.6
    noise: float = 0.08
    narrowest_strip: float = 0.25
    filled: float = 0.6
    figures: float = 0.7
    min_rows: int = 3
    slack: float = 1.0
    wall_inset: float = 2.0


THRESHOLDS = TextGridThresholds()

_CURRENCY = re.compile(r"^(?:[$€£¥]|US\$|Rs\.?|EUR|USD)$")


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Neighbouring words of one row."""

    words: Sequence[Word]
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def text(self) -> str:
        """The words, separated by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def middle(self) -> float:
        """Its horizontal middle."""
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True, slots=True)
class TextRow:
    """The pieces on one baseline, from left to right."""

    pieces: Sequence[WordGroup]
    y0: float
    y1: float
    baseline: float
    size: float

    @property
    def words(self) -> list[Word]:
        """All words of the row."""
        return [word for piece in self.pieces for word in piece.words]


def make_piece(words: Sequence[Word]) -> WordGroup:
    """A piece of these words; at least one."""
    return WordGroup(
        words,
        min(w.x0 for w in words),
        max(w.x1 for w in words),
        min(w.y0 for w in words),
        max(w.y1 for w in words),
    )


def text_rows(words: Sequence[Word]) -> list[TextRow]:
    """The rows of a region from top to bottom."""
    return [_row(line) for line in rows([make_line([word]) for word in words])]


def _row(line: Sequence[Line]) -> TextRow:
    words = [run.words[0] for run in line]
    size = median(word.style.size for word in words)
    pieces = [make_piece(group) for group in _split(words)]
    return TextRow(
        pieces,
        min(p.y0 for p in pieces),
        max(p.y1 for p in pieces),
        median(word.y1 for word in words),
        size,
    )


def _split(words: Sequence[Word]) -> list[list[Word]]:
    groups: list[list[Word]] = []
    leading = _signs_lead(words)
    for word in words:
        if groups and _belongs(groups[-1], word) and not (leading and _begins_amount(groups[-1], word)):
            groups[-1].append(word)
        elif groups and is_numeric(word.text) and len(groups[-1]) > 1 and _CURRENCY.match(groups[-1][-1].text):
            # A sign that follows a label or another amount closely is that of the next amount.
            groups.append([groups[-1].pop(), word])
        else:
            groups.append([word])
    return groups


def _signs_lead(words: Sequence[Word]) -> bool:
    """Whether the first amount with a sign of its own has it in front, as then all of the row have."""
    for left, right in pairwise(words):
        if _CURRENCY.match(left.text):
            return is_numeric(right.text)
        if _CURRENCY.match(right.text) and is_numeric(left.text):
            return False
    return False


def _begins_amount(group: Sequence[Word], word: Word) -> bool:
    """Whether a sign follows an amount: at the left edge of its column it may be nearer to that than to its own."""
    return _CURRENCY.match(word.text) is not None and is_numeric(group[-1].text)


def _belongs(group: list[Word], word: Word) -> bool:
    last = group[-1]
    size = max(last.style.size, word.style.size)
    distance = word.x0 - last.x1
    if distance <= THRESHOLDS.gap * size:
        return True
    # The sign of an amount is often set at the left edge of its column, far from the figures.
    if len(group) == 1 and _CURRENCY.match(last.text) and is_numeric(word.text):
        return True
    return distance <= THRESHOLDS.trailing_gap * size and word.text == "%" and is_numeric(last.text)


Interval = tuple[float, float]


def find_columns(rows: Sequence[TextRow], walls: Sequence[float] = ()) -> list[Interval]:
    """Column intervals from left to right; `walls` are x positions of vertical lines that no column crosses."""
    multi = [row for row in rows if len(row.pieces) > 1] or list(rows)
    if not multi:
        return []
    size = median(row.size for row in multi)
    split = [_cut_at(row.pieces, walls) for row in multi]
    columns = _covered([(p.x0, p.x1) for pieces in split for p in pieces], _tolerance(len(multi)))
    refined: list[Interval] = []
    for column in columns:
        refined += _split_by_words(column, multi, size)
    return _with_walls(refined, walls)


def _tolerance(count: int) -> int:
    return int(THRESHOLDS.noise * count)


def _cut_at(pieces: Sequence[WordGroup], walls: Sequence[float]) -> list[WordGroup]:
    """Pieces split where a wall is between two of their words."""
    if not walls:
        return list(pieces)
    found: list[WordGroup] = []
    for piece in pieces:
        group: list[Word] = []
        for word in piece.words:
            if group and any(
                group[-1].x1 <= wall + THRESHOLDS.slack and wall - THRESHOLDS.slack <= word.x0 for wall in walls
            ):
                found.append(make_piece(group))
                group = []
            group.append(word)
        found.append(make_piece(group))
    return found


def _covered(intervals: Sequence[Interval], tolerance: int) -> list[Interval]:
    """Maximal intervals that more than `tolerance` of the given ones cover."""
    events = sorted([(a, 1) for a, _ in intervals] + [(b, -1) for _, b in intervals])
    found: list[Interval] = []
    depth, start = 0, 0.0
    for x, step in events:
        before = depth
        depth += step
        if before <= tolerance < depth:
            start = x
        elif depth <= tolerance < before and x > start:
            found.append((start, x))
    return found


def _split_by_words(column: Interval, rows: Sequence[TextRow], size: float) -> list[Interval]:
    """Parts of a column that holds two columns of figures a mere space apart."""
    low, high = column[0] - THRESHOLDS.slack, column[1] + THRESHOLDS.slack
    inside = [[w for w in row.words if low <= (w.x0 + w.x1) / 2 <= high] for row in rows]
    filled = [words for words in inside if words]
    several = [words for words in filled if len(words) > 1]
    if len(several) < THRESHOLDS.min_rows or len(several) < THRESHOLDS.filled * len(filled):
        return [column]
    parts = _covered([(w.x0, w.x1) for words in filled for w in words], _tolerance(len(filled)))
    found: list[Interval] = [parts[0]] if parts else [column]
    for part in parts[1:]:
        if part[0] - found[-1][1] >= THRESHOLDS.narrowest_strip * size and _figures_apart(filled, found[-1], part):
            found.append(part)
        else:
            found[-1] = (found[-1][0], part[1])
    return found


def _figures_apart(rows: Sequence[Sequence[Word]], left: Interval, right: Interval) -> bool:
    """Whether most rows hold a figure on either side."""
    lefts, rights = _within(rows, left), _within(rows, right)
    both = sum(1 for a, b in zip(lefts, rights, strict=True) if a and b)
    if both < THRESHOLDS.filled * len(rows):
        return False
    return _numeric_share(lefts) >= THRESHOLDS.figures and _numeric_share(rights) >= THRESHOLDS.figures


def _within(rows: Sequence[Sequence[Word]], column: Interval) -> list[list[Word]]:
    low, high = column[0] - THRESHOLDS.slack, column[1] + THRESHOLDS.slack
    return [[word for word in words if low <= word.x0 and word.x1 <= high] for words in rows]


def _numeric_share(groups: Sequence[Sequence[Word]]) -> float:
    filled = [" ".join(w.text for w in words) for words in groups if words]
    return sum(is_numeric(text) for text in filled) / len(filled) if filled else 0.0


def _with_walls(columns: Sequence[Interval], walls: Sequence[float]) -> list[Interval]:
    """Columns that lie between the same two walls stay apart; one that crosses a wall is cut there."""
    found: list[Interval] = []
    for start, end in columns:
        for wall in walls:
            if start + THRESHOLDS.wall_inset < wall < end - THRESHOLDS.wall_inset:
                found.append((start, wall))
                start = wall
        found.append((start, end))
    return found


def boundaries(columns: Sequence[Interval]) -> list[float]:
    """Middles of the strips between columns."""
    return [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
