"""Tables without lines: rows that follow each other and share their columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.evidence import Evidence, is_caption, is_prose_row, weigh
from citewell.extract.formats.pdf.tables.model import bounds, is_numeric
from citewell.extract.formats.pdf.tables.pieces import Piece, TextRow, text_rows
from citewell.extract.formats.pdf.words import Word

_MAX_SINGLES = 3
_ROW_DISTANCE = 3.2
_MAX_LABEL = 60
_HEADER_LINES = 4
_CELL_LENGTH = 18
_ROWS_COMPARED = 4
_SAME_EDGE = 3.0
_AGREEING = 0.7
_BRIDGING = 0.34


def aligned_areas(words: Sequence[Word]) -> list[Rect]:
    """Areas of the tables among the words of one text column."""
    rows = text_rows(words)
    areas: list[Rect] = []
    for first, last in _stretches(rows):
        first = _with_header(rows, first, last)
        stretch = rows[first : last + 1]
        captioned = any(is_caption(row) for row in rows[max(0, first - 4) : first])
        if _is_table(weigh(stretch), captioned):
            areas.append(bounds([word for row in stretch for word in row.words]))
    return areas


def _stretches(rows: Sequence[TextRow]) -> list[tuple[int, int]]:
    """First and last row of runs in which rows with several pieces follow each other closely."""
    found: list[tuple[int, int]] = []
    first = last = -1
    for i, row in enumerate(rows):
        if _is_tabular(row):
            if first >= 0 and _joins(rows, first, last, i):
                last = i
            else:
                if last > first >= 0:
                    found.append((first, last))
                first = last = i
    if last > first >= 0:
        found.append((first, last))
    return found


def _is_tabular(row: TextRow) -> bool:
    if len(row.pieces) < 2 or is_prose_row(row):
        return False
    return any(is_numeric(p.text) for p in row.pieces[1:]) or max(len(p.text) for p in row.pieces[1:]) <= _MAX_LABEL


def _joins(rows: Sequence[TextRow], first: int, last: int, i: int) -> bool:
    """Whether nothing but a few short lines stands between two rows, and the later one keeps to the columns so far."""
    between = rows[last + 1 : i]
    if len(between) > _MAX_SINGLES or any(is_caption(row) for row in between):
        return False
    if any(len(" ".join(p.text for p in row.pieces)) > _MAX_LABEL for row in between):
        return False
    steps = rows[last : i + 1]
    if any(b.baseline - a.baseline > _ROW_DISTANCE * max(a.size, b.size) for a, b in pairwise(steps)):
        return False
    return _keeps_columns(
        [row for row in rows[first : last + 1] if len(row.pieces) > 1],
        rows[i],
        any(_is_heading(row, rows[i]) for row in between),
    )


def _is_heading(row: TextRow, below: TextRow) -> bool:
    return row.size > 1.1 * below.size or all(word.style.bold for word in row.words)


def _keeps_columns(above: Sequence[TextRow], row: TextRow, strict: bool) -> bool:
    """Whether few pieces of a row bridge two of those above, or the other way round; after a heading (`strict`), edges must agree."""
    near = above[-_ROWS_COMPARED:]
    bridges = sum(_bridges(row, other) for other in near)
    if 2 * bridges > len(near):
        return False
    if not strict:
        return True
    edges = [(p.x0, p.x1, p.middle) for other in near for p in other.pieces]
    agreeing = sum(
        any(min(abs(p.x0 - a), abs(p.x1 - b), abs(p.middle - m)) <= _SAME_EDGE for a, b, m in edges) for p in row.pieces
    )
    return agreeing >= _AGREEING * len(row.pieces)


def _bridges(row: TextRow, other: TextRow) -> bool:
    """Whether many pieces of either row lie over two or more of the other's."""
    over = sum(_over(piece, other) > 1 for piece in row.pieces) + sum(_over(piece, row) > 1 for piece in other.pieces)
    return over > _BRIDGING * min(len(row.pieces), len(other.pieces))


def _over(piece: Piece, row: TextRow) -> int:
    return sum(1 for other in row.pieces if other.x0 < piece.x1 and piece.x0 < other.x1)


def _with_header(rows: Sequence[TextRow], first: int, last: int) -> int:
    """The first row with the titles above it that stand over the later columns."""
    columns = weigh(rows[first : last + 1]).columns
    if len(columns) < 2:
        return first
    for _ in range(_HEADER_LINES):
        if first == 0:
            break
        above, row = rows[first - 1], rows[first]
        inset = above.pieces[0].x0 > columns[0][1]
        if is_caption(above) or not inset or row.baseline - above.baseline > 2 * row.size:
            break
        first -= 1
    return first


def _is_table(evidence: Evidence, captioned: bool) -> bool:
    """Whether rows that share columns are a table: the fewer columns and figures, the more rows it takes."""
    width, filled, figures = len(evidence.columns), evidence.filled, evidence.numeric
    if width < 2 or evidence.multi < 2 or evidence.share < 0.4:
        return False
    if width == 2 and evidence.leaders > 0.5:
        return False
    if captioned and filled >= 0.5:
        return True
    if figures >= 0.4 and filled >= 0.6 and evidence.multi >= (4 if width == 2 else 3):
        return True
    if evidence.length > _CELL_LENGTH or width < 3:
        return False
    if width >= 4 and filled >= 0.85 and figures >= 0.15:
        return True
    return evidence.multi >= 5 and filled >= 0.7 and figures >= 0.1
