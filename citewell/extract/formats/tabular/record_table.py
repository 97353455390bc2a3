"""A table of JSON records whose columns are discovered along the way."""

from __future__ import annotations

from citewell.extract.formats.tabular.flatten import JsonData, leaves
from citewell.extract.formats.tabular.values import Cell, text_of
from citewell.extract.formats.tabular.writer import MAX_COLUMNS, MORE, DataFile, is_sparse, more_cell


class RecordTable:
    """Rows keyed by the paths of their leaves.

    Beyond 1,000 different paths, or fewer if the records share hardly any field, the rest of a record is one JSON cell.
    Once a field is denied a column, no more columns are opened: a column holds all values of its field or none.
    """

    def __init__(self, data: DataFile, name: str) -> None:
        self._sink = data.sink
        self._table = data.table(name, [], None)
        self._places: dict[str, int] = {}
        self._more: int | None = None
        self._rows = self._values = 0

    def add(self, number: int, record: JsonData) -> None:
        """Adds one record under its number."""
        self._rows += 1
        found: dict[int, Cell] = {}
        more: dict[str, Cell] = {}
        for path, cell in leaves(record):
            place = self._places.get(path)
            if place is None:
                place = self._open(path)
            if place is None:
                more[path] = cell
            else:
                found[place] = cell
            self._values += 1
        if more:
            found[self._open_more()] = more_cell(more)
        cells: list[Cell] = [None] * (max(found, default=-1) + 1)
        texts = [""] * len(cells)
        for place, cell in found.items():
            cells[place], texts[place] = cell, text_of(cell)
        self._table.add_with_texts(number, cells, texts)

    def finish(self) -> None:
        """Writes the copy and the statistics."""
        self._table.finish()
        if self._more is not None:
            self._sink.warn(
                f"the records have more than {self._more:,} different fields; the first ones have columns, the rest "
                f"is in the column {MORE!r}"
            )

    def _open(self, path: str) -> int | None:
        """Returns the position of a new column; None if no more are allowed."""
        width = len(self._places)
        if self._more is not None or width >= MAX_COLUMNS or is_sparse(self._rows, width, self._values):
            return None
        self._places[path] = width
        self._table.add_column(path)
        return width

    def _open_more(self) -> int:
        if self._more is None:
            self._more = len(self._places)
            self._table.add_column(MORE)
        return self._more
