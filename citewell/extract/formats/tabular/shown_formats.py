"""Number formats with a unit or fixed decimals in a sheet's cells, stored as runs of rows per column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from citewell.extract.formats.tabular.number_formats import NumberFormat
from citewell.extract.formats.tabular.values import Cell

_MAX_RUNS = 100_000
"""Most runs remembered per sheet; with more, formats are mixed and no column has a single one."""


class ShownFormats:
    """The number formats of a sheet's cells by row and column from 0. A sheet with too many runs has none."""

    def __init__(self) -> None:
        self._first: dict[int, list[int]] = {}
        self._last: dict[int, list[int]] = {}
        self._formats: dict[int, list[NumberFormat]] = {}
        self._runs = 0
        self.coded: set[int] = set()
        """The columns with cells whose format shows more than a unit and decimals."""
        self.named: set[int] = set()
        """Those of them whose numbers name something."""
        self.signed: set[int] = set()
        """The columns with cells whose format shows the sign of a unit."""

    def __bool__(self) -> bool:
        return bool(self._formats) and self._runs <= _MAX_RUNS

    def add(self, row: int, column: int, format: NumberFormat, rows: int = 1) -> None:
        """Sets the format of one cell, or of `rows` cells down from it. Cells must come from top to bottom."""
        if self._runs > _MAX_RUNS:
            return
        if format.code is not None:
            self.coded.add(column)
            if format.code.names:
                self.named.add(column)
        elif format.unit:
            self.signed.add(column)
        last = self._last.setdefault(column, [])
        formats = self._formats.setdefault(column, [])
        if last and last[-1] == row - 1 and formats[-1] == format:
            last[-1] = row + rows - 1
            return
        self._first.setdefault(column, []).append(row)
        last.append(row + rows - 1)
        formats.append(format)
        self._runs += 1

    def of(self, row: int, column: int) -> NumberFormat | None:
        """Returns the format of a cell; None for a plain one."""
        run = bisect_right(self._first.get(column, ()), row) - 1
        return self._formats[column][run] if run >= 0 and row <= self._last[column][run] else None

    def shared(self, columns: Sequence[int], rows: Iterable[tuple[int, Sequence[Cell]]]) -> dict[int, NumberFormat]:
        """Returns, by position in `columns`, the format of each column whose numbers all show the same unit, or none,
        with the fewest decimals of any.

        rows: the index of each row with its cells, one for each of `columns`
        """
        found: dict[int, NumberFormat] = {}
        open_places = {place for place, column in enumerate(columns) if column in self._formats} if self else set[int]()
        for row, cells in rows if open_places else ():
            for place in tuple(open_places):
                if cells[place].__class__ not in (int, float):
                    continue
                shown = self.of(row, columns[place])
                known = found.setdefault(place, shown) if shown else None
                if shown is None or known is None or (shown.unit, shown.times) != (known.unit, known.times):
                    open_places.discard(place)
                elif shown.decimals < known.decimals:
                    found[place] = shown
            if not open_places:
                break
        return {place: shown for place, shown in found.items() if place in open_places}
