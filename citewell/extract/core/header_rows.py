"""How many rows of a document's table are its header: as marked, as merged cells show, or as the cells below differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from citewell.extract.formats.tabular.headers import MAX_HEADER_ROWS, header_depth
from citewell.extract.formats.tabular.values import Cell as Value
from citewell.extract.formats.tabular.values import is_data

_MAX_MEASURE = 40
"""Characters of the longest text that is a figure with its unit."""
_MEASURE = re.compile(r"[-–−+(~<>≤≥±]?\s?[$€£¥]?\s?(?!(?:19|20)\d\d\b)\d[\d.,'’ ]*\s?\S{0,12}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MIN_COLUMNS = 3
"""Columns from which a table of words alone may have an unmarked header; two are names and their values."""


class Spanning(Protocol):
    """A cell as `core.cells` has it: its first row and column, and how many of each it spans."""

    @property
    def row(self) -> int:
        """The first row, from 0."""
        ...

    @property
    def column(self) -> int:
        """The first column, from 0."""
        ...

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def rowspan(self) -> int:
        """How many rows it spans."""
        ...

    @property
    def colspan(self) -> int:
        """How many columns it spans."""
        ...

    @property
    def header(self) -> bool:
        """Whether it is marked as a header cell."""
        ...


def header_rows_of(cells: Sequence[Spanning], rows: Sequence[Sequence[str]], marked: int | None) -> int:
    """Returns the number of header rows: `marked` ones and those that belong to them by merged cells.

    Without any marked (None: the format marks none, or this table has no mark), what the cells show counts.
    rows: the grid, each text in the first row and column of its cell
    """
    count = _shown(cells, rows) if marked is None else marked
    while 0 < count < min(len(rows) - 1, MAX_HEADER_ROWS):
        reach = _reach(cells, rows, count)
        if reach == count:
            break
        count = reach
    return count


def is_amount(text: str) -> bool:
    """Whether a cell holds a figure, perhaps with its unit; a year is a label."""
    text = text.strip()
    return len(text) <= _MAX_MEASURE and not _YEAR.fullmatch(text) and _MEASURE.fullmatch(text) is not None


def _reach(cells: Sequence[Spanning], rows: Sequence[Sequence[str]], count: int) -> int:
    """Returns where a header of `count` rows ends by the cells merged in it: beside or below labels of groups."""
    width = len(rows[0])
    head = [cell for cell in cells if cell.row < count]
    last = [cell for cell in head if cell.row + cell.rowspan == count and cell.text]
    groups = [cell for cell in last if 1 < cell.colspan < width]
    down = max(cell.row + cell.rowspan for cell in head)
    if groups and count < down <= min(len(rows) - 1, MAX_HEADER_ROWS):
        return down
    title = len(last) == 1 and last[0].colspan == width > 1
    below = [rows[count][place] for group in groups for place in range(group.column, group.column + group.colspan)]
    named = bool(groups) and all(below) and not any(map(is_amount, rows[count])) and _figures_follow(rows, count + 1)
    return count + (named or (title and header_depth(_values(rows[count:])) > 0))


def _figures_follow(rows: Sequence[Sequence[str]], start: int) -> bool:
    return any(is_amount(text) for row in rows[start:] for text in row[1:])


def _shown(cells: Sequence[Spanning], rows: Sequence[Sequence[str]]) -> int:
    """Returns the header rows of a table that marks none, by how the first rows differ from those below."""
    width = len(rows[0])
    wide = {cell.row for cell in cells if cell.colspan == width > 1}
    titles = next((number for number in range(len(rows)) if number not in wide), 0)
    body = [list(row) for row in rows[titles:]]
    groups: set[int] = set()
    for cell in cells:
        at = cell.row - titles
        if 0 <= at < MAX_HEADER_ROWS and cell.text and cell.colspan < width:
            if cell.colspan > 1 and cell.rowspan == 1:
                groups.add(at)
            for row in body[at : min(at + cell.rowspan, MAX_HEADER_ROWS)]:
                row[cell.column : cell.column + cell.colspan] = [cell.text] * cell.colspan
    group_rows = next((number for number in range(len(body)) if number not in groups), 0)
    figures = any(is_amount(text) for row in body for text in row[1:])
    if not figures and (width < _MIN_COLUMNS or any(cell.header for cell in cells)):
        return 0
    if width == 2 and (len(body) < 3 or not all(is_amount(row[1]) for row in body[1:] if row[1])):
        return 0
    depth = header_depth(_values(body), group_rows)
    return titles + depth if depth else 0


def _values(rows: Sequence[Sequence[str]]) -> list[list[Value]]:
    """Returns cells as a data file has them: None for blank ones, and figures with a unit as figures."""
    return [[_value(text) for text in row] for row in rows[:60]]


def _value(text: str) -> Value:
    if not text.strip():
        return None
    return 0.5 if is_amount(text) and not is_data(text) else text
