"""Tables without lines: rows that follow each other and share their columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from citewell.extract.pdf.geometry import Rect
from citewell.extract.pdf.tables.evidence import Evidence, is_caption, is_prose_row, weigh
from citewell.extract.pdf.tables.model import bounds, is_numeric
from citewell.extract.pdf.tables.pieces import TextRow, text_rows
from citewell.extract.pdf.words import Word

_MAX_SINGLES = 3
_ROW_DISTANCE = 3.2
_MAX_LABEL = 60
_HEADER_LINES = 4


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
            if first >= 0 and _joins(rows, last, i):
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


def _joins(rows: Sequence[TextRow], last: int, i: int) -> bool:
    """Whether nothing but a few short lines stands between two rows."""
    between = rows[last + 1 : i]
    if len(between) > _MAX_SINGLES or any(is_caption(row) for row in between):
        return False
    if any(len(" ".join(p.text for p in row.pieces)) > _MAX_LABEL for row in between):
        return False
    steps = rows[last : i + 1]
    return all(b.baseline - a.baseline <= _ROW_DISTANCE * max(a.size, b.size) for a, b in pairwise(steps))


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
    width = len(evidence.columns)
    if width < 2 or evidence.multi < 2 or evidence.share < 0.4:
        return False
    if width == 2 and evidence.leaders > 0.5:
        return False
    if captioned and evidence.filled >= 0.5:
        return True
    if evidence.numeric >= 0.4 and evidence.filled >= 0.5:
        return evidence.multi >= (4 if width == 2 else 3)
    return (
        width >= 3
        and evidence.multi >= 5
        and evidence.filled >= 0.7
        and evidence.length <= 18
        and evidence.numeric >= 0.1
    )
