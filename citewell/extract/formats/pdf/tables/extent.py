"""Finds where a table of figures begins and ends: lines and alignment show its middle, but often not its header and
last rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import pairwise
from statistics import median

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.model import is_numeric
from citewell.extract.formats.pdf.tables.rows import (
    Evidence,
    Interval,
    TextRow,
    boundaries,
    is_caption,
    text_rows,
    weigh,
)
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.words import Word, bounds

_YEAR = re.compile(r"^(?:FY\s*)?(?:19|20)\d\d(?:[-–/]\d{2,4})?\w?$")
_PERIOD = re.compile(r"\b(?:19|20)\d\d\b")
_DATE = re.compile(r"^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}$")
_MARK = re.compile(r"^(?:\(\w{1,2}\)|[*†‡]+)$")
_PAGE_NUMBER = re.compile(r"^\d{1,4}$")
_AMOUNT = re.compile(r"[$€£¥%]|\d[.,]\d|\d{3}|^[-–—−]+$|^\([^)]{0,40}\d\d")


def is_year(text: str) -> bool:
    """Whether a text is only a year, as in column headers: `2024`, `FY 2024`, `2023/24`, `2024p`."""
    return _YEAR.match(text) is not None


def is_amount(text: str) -> bool:
    """Whether a text is a figure of a table's body: years, dates, small numbers and column numbers may be titles."""
    stripped = text.strip()
    if is_year(stripped) or _DATE.match(stripped):
        return False
    return is_numeric(stripped) and _AMOUNT.search(stripped) is not None


def has_amounts(row: TextRow) -> bool:
    """Whether a piece after a row's first is an amount."""
    return any(is_amount(piece.text) for piece in row.pieces[1:])


def names_periods(row: TextRow) -> bool:
    """Whether several of a row's texts name a year."""
    return sum(_PERIOD.search(piece.text) is not None for piece in row.pieces) > 1


def has_marks_only(row: TextRow) -> bool:
    """Whether a row consists only of note marks or column letters, such as (1) or (a)."""
    return all(_MARK.match(piece.text) for piece in row.pieces)


def whole_areas(words: Sequence[Word], area: Rect) -> list[Rect]:
    """Returns the full areas of the tables partly inside an area: with titles above, last rows below, and no notes.

    Several if the area holds several tables, each under its own titles; the area itself if it holds no table of
    figures.
    """
    rows = text_rows([word for word in words if area.x0 - 2 <= (word.x0 + word.x1) / 2 <= area.x1 + 2])
    inside = [i for i, row in enumerate(rows) if area.y0 - 2 <= (row.y0 + row.y1) / 2 <= area.y1 + 2]
    if len(inside) < 2:
        return [area]
    found: list[Rect] = []
    for first, last in _parts(rows, inside[0], inside[-1]):
        evidence = weigh(rows[first : last + 1])
        if not _is_of_figures(evidence):
            found.append(area if (first, last) == (inside[0], inside[-1]) else _around(rows[first : last + 1]))
            continue
        if (kept := _without_notes(rows, first, last)) < last:
            last, evidence = kept, weigh(rows[first : kept + 1])
        columns = _to_the_left(evidence.columns, rows[first : last + 1])
        last = _with_rows(rows, last, columns, _pitch(rows[first : last + 1]))
        if not _has_titles(rows[first : last + 1], columns):
            first = _with_titles(rows, first, columns)
        found.append(_around(rows[first : last + 1]))
    return found


def _is_of_figures(evidence: Evidence) -> bool:
    return evidence.numeric >= THRESHOLDS.extent.figures and len(evidence.columns) > 1


def _to_the_left(columns: Sequence[Interval], rows: Sequence[TextRow]) -> Sequence[Interval]:
    """Returns the columns, the first extended to the leftmost label: most labels may be indented."""
    (start, end), *others = columns
    return [(min(start, *(row.pieces[0].x0 for row in rows)), end), *others]


def _around(rows: Sequence[TextRow]) -> Rect:
    return bounds([word for row in rows for word in row.words])


def _pitch(rows: Sequence[TextRow]) -> float:
    return median([b.baseline - a.baseline for a, b in pairwise(rows)] or [0.0])


def _parts(rows: Sequence[TextRow], first: int, last: int) -> list[tuple[int, int]]:
    """Returns the first and last row of each table between two rows: titles between rows of amounts begin a new one."""
    parts: list[tuple[int, int]] = []
    start, amounts = first, -1
    known = _titles(rows[max(0, first - THRESHOLDS.extent.title_rows) : first])
    for i in range(first, last + 1):
        if not _has_figures(rows[i]):
            continue
        between = rows[amounts + 1 if amounts >= 0 else first : i]
        if amounts < 0:
            known |= _titles(between)
        elif (head := _head(between, rows[i], known)) is not None:
            parts.append((start, amounts))
            start = amounts + 1 + head
        amounts = i
    return [*parts, (start, last)]


def _has_figures(row: TextRow) -> bool:
    """Whether a row has amounts, or a label and figures that are not all years."""
    later = [piece.text for piece in row.pieces[1:]]
    named = any(character.isalpha() for character in row.pieces[0].text)
    return has_amounts(row) or (named and all(map(is_numeric, later)) and not all(map(_PERIOD.search, later)))


def _titles(rows: Sequence[TextRow]) -> set[str]:
    """Returns the texts of rows in several pieces."""
    return {piece.text.casefold() for row in rows if len(row.pieces) > 1 for piece in row.pieces}


def _head(between: Sequence[TextRow], row: TextRow, known: Set[str]) -> int | None:
    """Returns which line above a row of figures is the first title of a new table; None if the lines belong to the same
    table.

    They belong to a new table if periods head its columns, if the table above has the same titles, or if the titles
    follow a sentence that introduces them.
    """
    introduced = False
    first: int | None = None
    for i, line in enumerate(between):
        label, later = line.pieces[0], line.pieces[1:]
        if not later and (label.text.endswith(":") or not _is_over_figures(line, row)):
            introduced, first = introduced or label.text.endswith(":"), None
            continue
        if any(is_numeric(piece.text) and not _PERIOD.search(piece.text) for piece in later):
            continue
        first = i if first is None else first
        if (
            names_periods(line)
            or introduced
            or (len(later) > 1 and all(piece.text.casefold() in known for piece in later))
        ):
            return first
    return None


def _is_over_figures(line: TextRow, row: TextRow) -> bool:
    """Whether a line's first text is over the figures of a row, and not centered on the whole table."""
    piece, label = line.pieces[0], row.pieces[0]
    middle = (label.x0 + row.pieces[-1].x1) / 2
    return piece.x0 > label.x1 and abs(piece.middle - middle) > THRESHOLDS.extent.centred * line.size


def _without_notes(rows: Sequence[TextRow], first: int, last: int) -> int:
    """Moves the last row up past running text and everything after it, and past distant lines and page numbers."""
    figures = max((i for i in range(first, last + 1) if has_amounts(rows[i])), default=last)
    columns = weigh(rows[first : figures + 1]).columns
    for i in range(figures + 1, last + 1):
        if i > first + 1 and _is_note(rows[i], columns):
            last = i - 1
            break
    pitch = _pitch(rows[first : last + 1])
    while last > first + 1:
        row = rows[last]
        gap = row.baseline - rows[last - 1].baseline
        is_number = len(columns) > 2 and len(row.pieces) == 1 and _PAGE_NUMBER.match(row.pieces[0].text)
        is_near = gap <= THRESHOLDS.extent.note_distance * max(pitch, row.size) and not is_number
        if is_near or (has_amounts(row) and len(row.pieces) > 1):
            break
        last -= 1
    return last


def _is_note(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether a row is a long text across the columns, perhaps after a note mark."""
    *marks, text = row.pieces
    return (
        len(text.text) > THRESHOLDS.extent.group_length
        and sum(text.x0 < b and a < text.x1 for a, b in columns) > 1
        and (not marks or (len(marks) == 1 and _MARK.match(marks[0].text) is not None))
    )


def _with_rows(rows: Sequence[TextRow], last: int, columns: Sequence[Interval], pitch: float) -> int:
    """Moves the last row down past rows of figures in these columns, with group labels between them."""
    end, groups = last, 0
    for i in range(last + 1, min(len(rows), last + 1 + THRESHOLDS.extent.max_rows)):
        row = rows[i]
        if row.baseline - rows[i - 1].baseline > THRESHOLDS.extent.row_distance * max(pitch, row.size) or is_caption(
            row
        ):
            break
        if _is_body(row, columns):
            end, groups = i, 0
        elif _is_group(row, columns) and groups < THRESHOLDS.extent.group_rows:
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
    return len(taken) >= THRESHOLDS.extent.filled * (len(columns) - 1) and has_amounts(row)


def _is_group(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether a row is only a label, in the label column."""
    piece = row.pieces[0]
    low = columns[0][0]
    return (
        len(row.pieces) == 1
        and len(piece.text) <= THRESHOLDS.extent.group_length
        and piece.x0 >= low - row.size
        and piece.x1 <= columns[1][0]
    )


def _has_titles(rows: Sequence[TextRow], columns: Sequence[Interval]) -> bool:
    """Whether anything is above the columns of figures before the first amounts."""
    for row in rows:
        if has_marks_only(row):
            continue
        if _has_figures(row):
            return False
        if row.pieces[-1].x1 > columns[1][0]:
            return True
    return True


def _with_titles(rows: Sequence[TextRow], first: int, columns: Sequence[Interval]) -> int:
    """Moves the first row up past the titles of these columns and the group labels below them."""
    start, groups, titles = first, 0, 0
    for i in range(first - 1, max(-1, first - 1 - THRESHOLDS.extent.max_rows), -1):
        row = rows[i]
        reach = THRESHOLDS.extent.title_distance if titles else THRESHOLDS.extent.first_distance
        if rows[i + 1].baseline - row.baseline > reach * row.size or is_caption(row):
            break
        if _is_titles(row, columns) and titles < THRESHOLDS.extent.title_rows:
            start, titles = i, titles + 1
        elif not titles and _is_group(row, columns) and groups < THRESHOLDS.extent.group_rows:
            groups += 1
        else:
            break
    return start


def _is_titles(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether a row holds titles of the columns of figures, perhaps one of the label column, and no amounts."""
    low, high = columns[0]
    edge = boundaries(columns)[0]
    labels = [piece for piece in row.pieces if piece.middle <= edge]
    titles = [piece for piece in row.pieces if piece.middle > edge]
    if not titles or len(labels) > 1 or any(is_amount(piece.text) for piece in titles):
        return False
    if len(row.pieces) == 1 and titles[0].x0 < columns[1][0] - row.size:
        # A title of the whole table is centered on the table; one of all columns is centered on these.
        middle, right = titles[0].middle, columns[-1][1]
        return abs(middle - (columns[1][0] + right) / 2) < abs(middle - (low + right) / 2)
    over = [min(piece.x1, high) - piece.x0 > THRESHOLDS.extent.over_labels * (piece.x1 - piece.x0) for piece in titles]
    return not any(over) and all(piece.x0 < columns[-1][1] for piece in titles)
