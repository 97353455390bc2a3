"""Access to one sheet's cells by position: rows of a rectangle, and merged ranges."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from citewell.extract.formats.tabular.regions import Region, SheetMap
from citewell.extract.formats.tabular.sheet_scan import SheetScan
from citewell.extract.formats.tabular.values import Cell, tidy

_REMEMBERED_ROWS = 1_000
_Place = tuple[int, int]


class Sheet(Protocol):
    """A sheet as its reader has it: rows from the first filled cell on, and merged ranges (None: not recorded)."""

    @property
    def name(self) -> str:
        """The sheet's name."""
        ...

    @property
    def start(self) -> _Place | None:
        """The first filled row and column; None if the sheet is empty."""
        ...

    @property
    def merged_cell_ranges(self) -> Sequence[tuple[_Place, _Place]] | None:
        """First and last cells of merged ranges; None if the format does not record them."""
        ...

    def iter_rows(self) -> Iterator[Sequence[object]]:
        """Yields the rows."""
        ...


class SheetRows:
    """A sheet's rows by index from 0, in one forward pass as long as they are requested roughly from top to bottom.

    hints: additional facts from the sheet's XML: texts of error cells, which the reader leaves empty, and number
           formats
    """

    def __init__(self, sheet: Sheet, hints: SheetScan) -> None:
        self.name = sheet.name
        self.empty = sheet.start is None and not hints.errors
        self.shown = hints.shown
        self.merges = Merges(sheet.merged_cell_ranges)
        self._sheet = sheet
        self._left = sheet.start[1] if sheet.start else 0
        self._errors = _by_row(hints.errors)
        self._rows, self._next = self._all(), 0
        self._recent: deque[list[Cell]] = deque(maxlen=_REMEMBERED_ROWS)

    def map(self) -> SheetMap:
        """Returns which cells are filled, over all rows."""
        cells = SheetMap()
        for index, row in enumerate(self._sheet.iter_rows()):
            cells.add(row, self._left, self._errors.get(index, ()))
        return cells

    def within(self, region: Region, limit: int | None = None) -> Iterator[tuple[int, list[Cell]]]:
        """Yields the rows of a region (the first `limit` of them), each with its index, cut to the region's columns."""
        height = region.height if limit is None else min(limit, region.height)
        for index in range(region.top, region.top + height):
            row = self._row(index)
            if row is None:
                return
            yield index, row[region.left : region.right + 1]

    def _row(self, index: int) -> list[Cell] | None:
        """Returns one row, from memory if it was read recently; None below the last one."""
        if index < self._next - len(self._recent):
            self._rows, self._next = self._all(), 0
            self._recent.clear()
        while index >= self._next:
            row = next(self._rows, None)
            if row is None:
                return None
            self._recent.append(row)
            self._next += 1
        return self._recent[index - self._next]

    def _all(self) -> Iterator[list[Cell]]:
        padding: list[Cell] = [None] * self._left
        for index, row in enumerate(self._sheet.iter_rows()):
            cells = padding + [tidy(value) for value in row]
            for column, text in self._errors.get(index, ()):
                cells += [None] * (column + 1 - len(cells))
                cells[column] = cells[column] if cells[column] is not None else text
            yield cells


def _by_row(errors: Mapping[tuple[int, int], str]) -> dict[int, list[tuple[int, str]]]:
    rows: dict[int, list[tuple[int, str]]] = {}
    for (row, column), text in errors.items():
        rows.setdefault(row, []).append((column, text))
    return rows


@dataclass(frozen=True, slots=True)
class Merges:
    """Merged ranges of a sheet; None if the format does not record them."""

    ranges: Sequence[tuple[tuple[int, int], tuple[int, int]]] | None

    @property
    def known(self) -> bool:
        """Whether the format records merged ranges."""
        return self.ranges is not None

    def within(self, region: Region, bottom: int) -> list[Region]:
        """Returns merged ranges that begin in the region's rows down to `bottom` and touch its columns."""
        return [
            Region(top, last, left, right)
            for (top, left), (last, right) in self.ranges or ()
            if region.top <= top <= bottom and left <= region.right and right >= region.left
        ]


class MergedLabels:
    """Fills the rows below the first of a merged range with its text or date, as rows are read from top to bottom.

    Not with its number: that is one value for all of them, and would be summed once per row. left: the rows' first
                         column.
    """

    def __init__(self, merges: Merges, left: int) -> None:
        self._left = left
        self._starting: dict[int, list[tuple[int, int]]] = {}
        for (top, column), (bottom, _) in merges.ranges or ():
            if bottom > top and column >= left:
                self._starting.setdefault(top, []).append((column, bottom))
        self._reaching: dict[int, tuple[int, Cell]] = {}

    def fill(self, index: int, row: list[Cell]) -> None:
        """Completes the row with this index from 0."""
        for column, (bottom, label) in list(self._reaching.items()):
            place = column - self._left
            if index > bottom:
                del self._reaching[column]
            elif row[place] is None:
                row[place] = label
        for column, bottom in self._starting.get(index, ()):
            place = column - self._left
            if place < len(row) and isinstance(row[place], str | date):
                self._reaching[column] = bottom, row[place]
