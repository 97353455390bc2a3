"""Reading order of a page: columns are found by the white gutters between them, and what spans them cuts them into bands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from citewell.extract.pdf.lines import Line, join_row, rows

_GUTTER = 0.8
_MIN_ROWS = 2
_MIN_SIDE_HEIGHT = 2.2
_SHORT_TEXT = 18
_ALIGNED = 0.45
_MAX_DEPTH = 12
_BESIDE = 0.3
_ROW_HEIGHT = 1.4


def reading_order(runs: Sequence[Line], right_to_left: bool = False) -> list[list[Line]]:
    """Columns in reading order, each a list of lines from top to bottom; placeholders stand alone among them."""
    return [_lines(column) for column in _columns(list(runs), right_to_left, 0) if column]


def text_columns(runs: Sequence[Line]) -> list[list[Line]]:
    """The runs of each column."""
    return [column for column in _columns(list(runs), False, 0) if column]


def _lines(column: list[Line]) -> list[Line]:
    floats = sorted((run for run in column if run.float_index is not None), key=_middle)
    texts = [run for run in column if run.float_index is None]
    found: list[Line] = []
    for place in floats:
        above = [run for run in texts if _middle(run) < _middle(place)]
        texts = [run for run in texts if _middle(run) >= _middle(place)]
        found += [join_row(row) for row in rows(above)]
        found.append(place)
    return found + [join_row(row) for row in rows(texts)]


def _middle(run: Line) -> float:
    return (run.y0 + run.y1) / 2


def _weight(runs: list[Line]) -> int:
    """How many rows these are; a table counts as many as would fit in its place."""
    return sum(1 if run.float_index is None else 1 + int((run.y1 - run.y0) / (_ROW_HEIGHT * run.size)) for run in runs)


def _columns(runs: list[Line], right_to_left: bool, depth: int) -> list[list[Line]]:
    if _weight(runs) < 2 * _MIN_ROWS or depth > _MAX_DEPTH:
        return [runs]
    gutter = _best_gutter(runs)
    if gutter is None:
        return [runs]
    columns: list[list[Line]] = []
    for spanning, left, right in _bands(runs, *gutter):
        sides = (right, left) if right_to_left else (left, right)
        for part in (spanning, *sides):
            if part:
                columns += _columns(part, right_to_left, depth + 1)
    return columns


def _best_gutter(runs: list[Line]) -> tuple[float, float] | None:
    """The white strip with the most text side by side; None when the text is one column (or reads row by row)."""
    paired = _paired(runs)
    if _weight(paired) < 2 * _MIN_ROWS:
        return None
    size = median(run.size for run in paired)
    best, best_side = None, 0.0
    for low, high in _gaps(paired, _GUTTER * size):
        side = _side_by_side(runs, low, high, _MIN_SIDE_HEIGHT * size)
        if side > best_side:
            best, best_side = (low, high), side
    return best


def _paired(runs: list[Line]) -> list[Line]:
    """The runs that have another one beside them; the rest tells nothing about columns."""
    ordered = sorted(runs, key=lambda run: run.y0)
    found: set[int] = set()
    for i, run in enumerate(ordered):
        for j in range(i + 1, len(ordered)):
            other = ordered[j]
            if other.y0 >= run.y1:
                break
            apart = other.x0 >= run.x1 or other.x1 <= run.x0
            if apart and min(run.y1, other.y1) - other.y0 > _BESIDE * min(run.y1 - run.y0, other.y1 - other.y0):
                found.update((i, j))
    return [ordered[i] for i in sorted(found)]


def _gaps(runs: list[Line], width: float) -> list[tuple[float, float]]:
    """Strips at least that wide which fewer runs cross than the strips beside them."""
    events = sorted([(run.x0, 1) for run in runs] + [(run.x1, -1) for run in runs])
    strips: list[tuple[float, float, int]] = []
    covering = 0
    for (x, step), (following, _) in pairwise(events):
        covering += step
        if following > x:
            strips.append((x, following, covering))
    found: list[tuple[float, float]] = []
    for i in range(1, len(strips) - 1):
        low, high, cover = strips[i]
        if high - low >= width and cover <= strips[i - 1][2] and cover <= strips[i + 1][2] and 3 * cover < len(runs):
            found.append((low, high))
    return found


def _bands(runs: list[Line], low: float, high: float) -> list[tuple[list[Line], list[Line], list[Line]]]:
    """Horizontal bands from top to bottom: (what spans the gutter, left of it, right of it)."""
    bands: list[tuple[list[Line], list[Line], list[Line]]] = [([], [], [])]
    for run in sorted(runs, key=lambda run: run.y0 + run.y1):
        spanning, left, right = bands[-1]
        if run.x1 <= low + 0.01:
            left.append(run)
        elif run.x0 >= high - 0.01:
            right.append(run)
        elif left or right:
            bands.append(([run], [], []))
        else:
            spanning.append(run)
    return bands


def _side_by_side(runs: list[Line], low: float, high: float, least: float) -> float:
    """Height over which text stands on both sides of the strip and reads column by column; 0 when it does not."""
    total = 0.0
    for _, left, right in _bands(runs, low, high):
        if _weight(left) < _MIN_ROWS or _weight(right) < _MIN_ROWS:
            continue
        top = max(min(run.y0 for run in left), min(run.y0 for run in right))
        bottom = min(max(run.y1 for run in left), max(run.y1 for run in right))
        if bottom - top > least and not _reads_by_row(left, right, top, bottom):
            total += bottom - top
    return total


def _reads_by_row(left: list[Line], right: list[Line], top: float, bottom: float) -> bool:
    """Labels with their values: short texts on a side, nearly each beside one of the other side."""
    beside_left = [run for run in left if run.y1 > top and run.y0 < bottom]
    beside_right = [run for run in right if run.y1 > top and run.y0 < bottom]
    if not beside_left or not beside_right:
        return True
    if min(_mean_length(beside_left), _mean_length(beside_right)) > _SHORT_TEXT:
        return False
    fewer, more = sorted((beside_left, beside_right), key=len)
    aligned = sum(any(abs(a.baseline - b.baseline) < 0.3 * a.size for b in more) for a in fewer)
    return aligned >= _ALIGNED * len(fewer)


def _mean_length(runs: list[Line]) -> float:
    return sum(run.characters for run in runs) / len(runs)
