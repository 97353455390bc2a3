"""Where a table of figures begins and ends: lines and alignment show its middle, but its header and its last rows are often outside of the lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.evidence import is_caption, weigh
from citewell.extract.formats.pdf.tables.model import bounds, is_numeric
from citewell.extract.formats.pdf.tables.text_grid import Interval, TextRow, WordGroup, boundaries, text_rows
from citewell.extract.formats.pdf.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtentThresholds:
    """Thresholds of finding a table's first and last row; an em is the font size of the row, a pitch the table's median distance of baselines.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and on statements in annual reports.

    figures:          share of figures from which a table is one of figures; others are left as they were found
    title_rows:       rows of titles that may be above the area
    title_distance:   ems between their baselines
    first_distance:   ems from the lowest of them to the row below
    group_rows:       labels of groups that may be between the titles and the area, or between the area and more rows
    group_length:     characters of the longest of them
    over_labels:      share of a title that may be over the column of labels
    row_distance:     pitches to a row below the area that belongs to it
    filled:           share of the columns of figures in which such a row has one
    note_distance:    pitches from which a last line without figures is a note, and one without a label a page number
    repeated_titles:  rows of titles inside the area, the last with several, from which another table begins there
    max_rows:         rows that are examined on either side of an area
    """

    figures: float = 0.5
    title_rows: int = 6
    title_distance: float = 2.2
    first_distance: float = 3.0
    group_rows: int = 3
    group_length: int = 90
    over_labels: float = 0.3
    row_distance: float = 1.6
    filled: float = 0.5
    note_distance: float = 1.3
    repeated_titles: int = 2
    max_rows: int = 24


THRESHOLDS = ExtentThresholds()

_YEAR = re.compile(r"^(?:FY\s*)?(?:19|20)\d\d(?:[-–/]\d{2,4})?\w?$")
_DATE = re.compile(r"^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}$")
_AMOUNT = re.compile(r"[$€£¥%]|\d[.,]\d|\d{3}|^[-–—−]+$|^\([^)]{0,40}\d\d")


def is_amount(text: str) -> bool:
    """Whether a text is a figure of a table's body: years, dates, small numbers and numbers of columns may be titles."""
    stripped = text.strip()
    if _YEAR.match(stripped) or _DATE.match(stripped):
        return False
    return is_numeric(stripped) and _AMOUNT.search(stripped) is not None


def has_amounts(row: TextRow) -> bool:
    """Whether a piece after a row's first is an amount."""
    return any(is_amount(piece.text) for piece in row.pieces[1:])


def whole_areas(words: Sequence[Word], area: Rect) -> list[Rect]:
    """The areas of the tables that an area holds part of: with the titles above, the last rows below, and no notes.

    Several where the area holds several tables, each under titles of its own; the area itself where it holds no table of figures.
    """
    rows = text_rows([word for word in words if area.x0 - 2 <= (word.x0 + word.x1) / 2 <= area.x1 + 2])
    inside = [i for i, row in enumerate(rows) if area.y0 - 2 <= (row.y0 + row.y1) / 2 <= area.y1 + 2]
    if len(inside) < 2:
        return [area]
    found: list[Rect] = []
    for first, last in _parts(rows, inside[0], inside[-1]):
        evidence = weigh(rows[first : last + 1])
        if evidence.numeric < THRESHOLDS.figures or len(evidence.columns) < 2:
            found.append(area if (first, last) == (inside[0], inside[-1]) else _around(rows[first : last + 1]))
            continue
        pitch = _pitch(rows[first : last + 1])
        last = _without_notes(rows, first, last, pitch)
        last = _with_rows(rows, last, evidence.columns, pitch)
        if not _has_titles(rows[first : last + 1], evidence.columns):
            first = _with_titles(rows, first, evidence.columns)
        found.append(_around(rows[first : last + 1]))
    return found


def _around(rows: Sequence[TextRow]) -> Rect:
    return bounds([word for row in rows for word in row.words])


def _pitch(rows: Sequence[TextRow]) -> float:
    return median([b.baseline - a.baseline for a, b in pairwise(rows)] or [0.0])


def _parts(rows: Sequence[TextRow], first: int, last: int) -> list[tuple[int, int]]:
    """First and last row of each table between two rows: a new one begins after titles between rows of amounts."""
    parts: list[tuple[int, int]] = []
    start, titles = first, 0
    seen = several = False
    for i in range(first, last + 1):
        row = rows[i]
        if has_amounts(row):
            if seen and several and titles >= THRESHOLDS.repeated_titles:
                parts.append((start, i - titles - 1))
                start = i
            seen, several, titles = True, False, 0
        elif len(row.pieces) > 1 and all(_is_period(piece) for piece in row.pieces):
            several, titles = True, titles + 1
        elif seen:
            # Labels of groups below titles are the new table's.
            titles += 1
    return [*parts, (start, last)]


def _is_period(piece: WordGroup) -> bool:
    """Whether a title names a year or a date, as those of statements do."""
    return any(character.isdigit() for character in piece.text) and not is_amount(piece.text)


def _without_notes(rows: Sequence[TextRow], first: int, last: int, pitch: float) -> int:
    """The last row, moved up over notes and page numbers."""
    while last > first + 1:
        row = rows[last]
        gap = row.baseline - rows[last - 1].baseline
        if gap <= THRESHOLDS.note_distance * max(pitch, row.size) or (has_amounts(row) and len(row.pieces) > 1):
            break
        last -= 1
    return last


def _with_rows(rows: Sequence[TextRow], last: int, columns: Sequence[Interval], pitch: float) -> int:
    """The last row, moved down over rows of figures in these columns, with the labels of groups between them."""
    end, groups = last, 0
    for i in range(last + 1, min(len(rows), last + 1 + THRESHOLDS.max_rows)):
        row = rows[i]
        if row.baseline - rows[i - 1].baseline > THRESHOLDS.row_distance * max(pitch, row.size) or is_caption(row):
            break
        if _is_body(row, columns):
            end, groups = i, 0
        elif _is_group(row, columns) and groups < THRESHOLDS.group_rows:
            groups += 1
        else:
            break
    return end


def _is_body(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether a row has a label and figures in most of the columns, and nothing else."""
    later = row.pieces[1:]
    if not later or row.pieces[0].x1 > columns[1][1] or not all(is_numeric(piece.text) for piece in later):
        return False
    taken = {i for i, (a, b) in enumerate(columns) for piece in later if piece.x0 < b and a < piece.x1}
    return len(taken) >= THRESHOLDS.filled * (len(columns) - 1) and has_amounts(row)


def _is_group(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether a row is a label alone, in the column of labels."""
    piece = row.pieces[0]
    low = columns[0][0]
    return (
        len(row.pieces) == 1
        and len(piece.text) <= THRESHOLDS.group_length
        and piece.x0 >= low - row.size
        and piece.x1 <= columns[1][0]
    )


def _has_titles(rows: Sequence[TextRow], columns: Sequence[Interval]) -> bool:
    """Whether anything is above the columns of figures before the first amounts."""
    for row in rows:
        if has_amounts(row):
            return False
        if row.pieces[-1].x1 > columns[1][0]:
            return True
    return True


def _with_titles(rows: Sequence[TextRow], first: int, columns: Sequence[Interval]) -> int:
    """The first row, moved up over the titles of these columns and the labels of groups below them."""
    start, groups, titles = first, 0, 0
    for i in range(first - 1, max(-1, first - 1 - THRESHOLDS.max_rows), -1):
        row = rows[i]
        reach = THRESHOLDS.title_distance if titles else THRESHOLDS.first_distance
        if rows[i + 1].baseline - row.baseline > reach * row.size or is_caption(row):
            break
        if _is_titles(row, columns) and titles < THRESHOLDS.title_rows:
            start, titles = i, titles + 1
        elif not titles and _is_group(row, columns) and groups < THRESHOLDS.group_rows:
            groups += 1
        else:
            break
    return start


def _is_titles(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether a row holds titles of the columns of figures, perhaps with one of the column of labels, and no amounts."""
    low, high = columns[0]
    edge = boundaries(columns)[0]
    labels = [piece for piece in row.pieces if piece.middle <= edge]
    titles = [piece for piece in row.pieces if piece.middle > edge]
    if not titles or len(labels) > 1 or any(is_amount(piece.text) for piece in titles):
        return False
    if len(row.pieces) == 1 and titles[0].x0 < columns[1][0] - row.size:
        # A title of the whole table is set in the table's middle, one of all columns in the middle of these.
        middle, right = titles[0].middle, columns[-1][1]
        return abs(middle - (columns[1][0] + right) / 2) < abs(middle - (low + right) / 2)
    over = [min(piece.x1, high) - piece.x0 > THRESHOLDS.over_labels * (piece.x1 - piece.x0) for piece in titles]
    return not any(over) and all(piece.x0 < columns[-1][1] for piece in titles)
