"""Reading order of a page: columns are found by the white gutters between them; content that spans them cuts them into
bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from citewell.extract.formats.pdf.lines import Line, join_row, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnThresholds:
    """Thresholds for finding columns; an em is the median font size of the runs considered.

    Set by hand on the development documents.

    gutter:         ems of white between two columns: lower values find columns in loosely set text, higher ones miss
                    narrow gutters
    narrow_gutter:  ems tried where no strip of `gutter` ems is free
    edge:           points by which a run may reach into a gutter, to allow for rounding
    same_edge:      points within which the starts (or ends) of runs are one edge
    candidates:     edges tried on either side, the most frequent first; bounds the work per page
    spanning:       share of the side-by-side runs that may cross a gutter (headings, figures over both columns)
    per_break:      cost of each line across the gutter, in units of `min_height`: it breaks the columns into bands
    min_rows:       fewest rows on either side for columns
    min_height:     ems of the least height over which side-by-side text counts
    short_text:     mean characters of a run up to which a side may be labels or values, read row by row rather than
                    column by column
    aligned:        share of the shorter side's runs with a partner on their baseline at which such text is read row by
                    row
    same_baseline:  ems by which the baselines of such partners may differ
    beside:         common share of the lower run's height for two runs to be side by side
    row_height:     ems of height for which a table or image counts as one row
    max_depth:      columns within columns; bounds recursion
    max_beside:     runs that each run is compared with; bounds the work on pages with thousands of labels
    """

    gutter: float = 0.8
    narrow_gutter: float = 0.45
    edge: float = 0.05
    same_edge: float = 2.5
    candidates: int = 6
    spanning: float = 0.34
    per_break: float = 0.5
    min_rows: int = 2
    min_height: float = 2.2
    short_text: int = 18
    aligned: float = 0.45
    same_baseline: float = 0.3
    beside: float = 0.3
    row_height: float = 1.4
    max_depth: int = 12
    max_beside: int = 500


THRESHOLDS = ColumnThresholds()


def reading_order(runs: Sequence[Line], right_to_left: bool = False) -> list[list[Line]]:
    """Returns columns in reading order, each a list of lines from top to bottom; placeholders are separate lines."""
    return [_lines(column) for column in _columns(list(runs), right_to_left, 0) if column]


def text_columns(runs: Sequence[Line]) -> list[list[Line]]:
    """Returns the runs of each column."""
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
    """Returns the number of rows; a table counts as many as would fit in its place."""
    return sum(
        1 if run.float_index is None else 1 + int((run.y1 - run.y0) / (THRESHOLDS.row_height * run.size))
        for run in runs
    )


def _columns(runs: list[Line], right_to_left: bool, depth: int) -> list[list[Line]]:
    if _weight(runs) < 2 * THRESHOLDS.min_rows or depth > THRESHOLDS.max_depth:
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
    """Returns the white strip with the most text side by side; None if the text is one column (or reads row by row)."""
    paired = _paired(runs)
    if _weight(paired) < 2 * THRESHOLDS.min_rows:
        return None
    size = median(run.size for run in paired)
    best, best_side = None, 0.0
    for low, high in _gaps(paired, (THRESHOLDS.gutter * size, THRESHOLDS.narrow_gutter * size)):
        side = _side_by_side(runs, low, high, THRESHOLDS.min_height * size)
        if side > best_side:
            best, best_side = (low, high), side
    return best


def _paired(runs: list[Line]) -> list[Line]:
    """Returns the runs with another one beside them; the rest is no evidence of columns."""
    ordered = sorted(runs, key=lambda run: run.y0)
    found: set[int] = set()
    for i, run in enumerate(ordered):
        for j in range(i + 1, min(len(ordered), i + THRESHOLDS.max_beside)):
            other = ordered[j]
            if other.y0 >= run.y1:
                break
            apart = other.x0 >= run.x1 or other.x1 <= run.x0
            if apart and min(run.y1, other.y1) - other.y0 > THRESHOLDS.beside * min(
                run.y1 - run.y0, other.y1 - other.y0
            ):
                found.update((i, j))
    return [ordered[i] for i in sorted(found)]


def _gaps(runs: list[Line], widths: tuple[float, ...]) -> list[tuple[float, float]]:
    """Returns strips that few runs reach into, left of where many runs begin, or right of where many end."""
    found: list[tuple[float, float]] = []
    # A gutter has an aligned edge on at least one side, however ragged the other.
    for edge in _frequent([run.x0 for run in runs]):
        found += _first_free(runs, [(edge - width, edge) for width in widths])
    for edge in _frequent([run.x1 for run in runs]):
        found += _first_free(runs, [(edge, edge + width) for width in widths])
    return found


def _first_free(runs: list[Line], gaps: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return next(([gap] for gap in gaps if _is_free(runs, *gap)), [])


def _is_free(runs: list[Line], low: float, high: float) -> bool:
    left = sum(1 for run in runs if run.x1 <= low + THRESHOLDS.edge)
    right = sum(1 for run in runs if run.x0 >= high - THRESHOLDS.edge)
    return (
        left >= THRESHOLDS.min_rows
        and right >= THRESHOLDS.min_rows
        and len(runs) - left - right < THRESHOLDS.spanning * len(runs)
    )


def _frequent(values: list[float]) -> list[float]:
    """Returns the positions with the most edges, at most `candidates`."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][0] <= THRESHOLDS.same_edge:
            groups[-1].append(value)
        else:
            groups.append([value])
    common = sorted((group for group in groups if len(group) >= THRESHOLDS.min_rows), key=len, reverse=True)
    return [group[0] for group in common[: THRESHOLDS.candidates]]


def _bands(runs: list[Line], low: float, high: float) -> list[tuple[list[Line], list[Line], list[Line]]]:
    """Returns horizontal bands from top to bottom: (spanning the gutter, left of it, right of it)."""
    bands: list[tuple[list[Line], list[Line], list[Line]]] = [([], [], [])]
    middle = (low + high) / 2
    for run in sorted(runs, key=_middle):
        spanning, left, right = bands[-1]
        if run.x1 <= middle:
            left.append(run)
        elif run.x0 >= middle:
            right.append(run)
        elif left or right:
            bands.append(([run], [], []))
        else:
            spanning.append(run)
    return bands


def _side_by_side(runs: list[Line], low: float, high: float, least: float) -> float:
    """Returns the height over which both sides of the strip have text read column by column, less a cost per break."""
    bands = _bands(runs, low, high)
    total = -THRESHOLDS.per_break * least * (len(bands) - 1)
    for _, left, right in bands:
        if _weight(left) < THRESHOLDS.min_rows or _weight(right) < THRESHOLDS.min_rows:
            continue
        top = max(min(run.y0 for run in left), min(run.y0 for run in right))
        bottom = min(max(run.y1 for run in left), max(run.y1 for run in right))
        if bottom - top > least and not _reads_by_row(left, right, top, bottom):
            total += bottom - top
    return total


def _reads_by_row(left: list[Line], right: list[Line], top: float, bottom: float) -> bool:
    """Whether the sides are labels and values: short texts on a side, nearly each beside one on the other side."""
    beside_left = [run for run in left if run.y1 > top and run.y0 < bottom]
    beside_right = [run for run in right if run.y1 > top and run.y0 < bottom]
    if not beside_left or not beside_right:
        return True
    # Long texts on both sides are prose: a sentence is not the label of another.
    if min(_mean_length(beside_left), _mean_length(beside_right)) > THRESHOLDS.short_text:
        return False
    fewer, more = sorted((beside_left, beside_right), key=len)
    aligned = sum(any(abs(a.baseline - b.baseline) < THRESHOLDS.same_baseline * a.size for b in more) for a in fewer)
    return aligned >= THRESHOLDS.aligned * len(fewer)


def _mean_length(runs: list[Line]) -> float:
    return sum(run.characters for run in runs) / len(runs)
