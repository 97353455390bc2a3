"""Columns of a table region: intervals of x that its rows share, parted by white strips or ruling lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from citewell.extract.formats.pdf.tables.model import is_numeric
from citewell.extract.formats.pdf.tables.pieces import Piece, TextRow, make_piece
from citewell.extract.formats.pdf.words import Word

Interval = tuple[float, float]
_NOISE = 0.08
_NARROWEST_STRIP = 0.25
_FILLED = 0.6
_NUMERIC_SHARE = 0.7
_MIN_ROWS_TO_SPLIT = 3


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
    return int(_NOISE * count)


def _cut_at(pieces: Sequence[Piece], walls: Sequence[float]) -> list[Piece]:
    """Pieces split where a wall stands between two of their words."""
    if not walls:
        return list(pieces)
    found: list[Piece] = []
    for piece in pieces:
        group: list[Word] = []
        for word in piece.words:
            if group and any(group[-1].x1 <= wall + 1 and wall - 1 <= word.x0 for wall in walls):
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
    inside = [[w for w in row.words if column[0] - 1 <= (w.x0 + w.x1) / 2 <= column[1] + 1] for row in rows]
    filled = [words for words in inside if words]
    several = [words for words in filled if len(words) > 1]
    if len(several) < _MIN_ROWS_TO_SPLIT or len(several) < _FILLED * len(filled):
        return [column]
    parts = _covered([(w.x0, w.x1) for words in filled for w in words], _tolerance(len(filled)))
    found: list[Interval] = [parts[0]] if parts else [column]
    for part in parts[1:]:
        if part[0] - found[-1][1] >= _NARROWEST_STRIP * size and _figures_apart(filled, found[-1], part):
            found.append(part)
        else:
            found[-1] = (found[-1][0], part[1])
    return found


def _figures_apart(rows: Sequence[Sequence[Word]], left: Interval, right: Interval) -> bool:
    """Whether most rows hold a figure on either side."""
    lefts = [[w for w in words if left[0] - 1 <= w.x0 and w.x1 <= left[1] + 1] for words in rows]
    rights = [[w for w in words if right[0] - 1 <= w.x0 and w.x1 <= right[1] + 1] for words in rows]
    both = sum(1 for a, b in zip(lefts, rights, strict=True) if a and b)
    if both < _FILLED * len(rows):
        return False
    return _numeric_share(lefts) >= _NUMERIC_SHARE and _numeric_share(rights) >= _NUMERIC_SHARE


def _numeric_share(groups: Sequence[Sequence[Word]]) -> float:
    filled = [" ".join(w.text for w in words) for words in groups if words]
    return sum(is_numeric(text) for text in filled) / len(filled) if filled else 0.0


def _with_walls(columns: Sequence[Interval], walls: Sequence[float]) -> list[Interval]:
    """Columns that lie between the same two walls stay apart; one that crosses a wall is cut there."""
    found: list[Interval] = []
    for start, end in columns:
        for wall in walls:
            if start + 2 < wall < end - 2:
                found.append((start, wall))
                start = wall
        found.append((start, end))
    return found


def boundaries(columns: Sequence[Interval]) -> list[float]:
    """Middles of the strips between columns."""
    return [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
