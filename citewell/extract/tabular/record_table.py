"""A table of JSON records whose columns are found on the way."""

from __future__ import annotations

import json

from citewell.extract.tabular.flatten import JsonData, leaves
from citewell.extract.tabular.headers import distinct
from citewell.extract.tabular.values import Cell, json_of
from citewell.extract.tabular.writer import DataFile

_MAX_COLUMNS = 1_000
_OVERFLOW = "(more)"


class RecordTable:
    """Rows under the paths of their leaves; beyond 1,000 different paths the rest of a record is one JSON cell."""

    def __init__(self, data: DataFile, name: str) -> None:
        self._sink = data.sink
        self._table = data.table(name, [], None)
        self._places: dict[str, int] = {}
        self._overflowed = False

    def add(self, number: int, record: JsonData) -> None:
        """One record under its number."""
        cells: list[Cell] = [None] * len(self._places)
        more: dict[str, Cell] = {}
        for path, cell in leaves(record):
            place = self._places.get(path)
            if place is None and len(self._places) >= _MAX_COLUMNS:
                more[path] = cell
                continue
            if place is None:
                place = self._place(path)
                cells.append(None)
            cells[place] = cell
        if more:
            self._add_overflow(cells, more)
        self._table.add(number, cells)

    def finish(self) -> None:
        """Write the copy and the statistics."""
        self._table.finish()
        if self._overflowed:
            self._sink.warn(
                f"the records have more than {_MAX_COLUMNS:,} different fields; the rest stands in the column {_OVERFLOW!r}"
            )

    def _place(self, path: str) -> int:
        place = self._places[path] = len(self._places)
        self._table.add_column(distinct([*self._table.columns, path])[-1])
        return place

    def _add_overflow(self, cells: list[Cell], more: dict[str, Cell]) -> None:
        if not self._overflowed:
            self._overflowed = True
            self._table.add_column(distinct([*self._table.columns, _OVERFLOW])[-1])
        cells += [None] * (len(self._places) - len(cells))
        cells.append(json.dumps({path: json_of(cell) for path, cell in more.items()}, ensure_ascii=False))
