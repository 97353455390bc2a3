"""Elements of one table: every row, and a small table as a whole before its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from citewell.extract.core.cells import Cell as TableCell
from citewell.extract.core.cells import build_table
from citewell.extract.core.emission import emit_table
from citewell.extract.core.sink import Sink
from citewell.extract.formats.tabular.values import Cell, line_of, row_text, row_values
from citewell.types import JsonObject, Locator

SMALL_ROWS = 50
"""Rows of the largest table also emitted as a whole, besides its rows."""
SMALL_COLUMNS = 20
"""Columns of the largest such table."""
_ROOM_FOR_ROWS = 0.75
"""Share of the output limit that rows may fill; the rest is reserved for content after the table."""


_Row: TypeAlias = tuple[int, Sequence[Cell], Sequence[str]]


class RowEmitter:
    """Emits a table's rows as they arrive; holds back at most 51 of them, until it is known whether the table is small.

    Row and table elements carry `{"table": id, "table_name": name}`, which links rows to their table element; a table
    element also carries `{"rows": […]}`, the row numbers of its lines after the header.
    """

    def __init__(
        self,
        sink: Sink,
        id: str,
        name: str,
        columns: Sequence[str],
        header_row: int | None = None,
        sheet: str | None = None,
    ) -> None:
        self.id, self.name, self.sheet, self.header_row = id, name, sheet, header_row
        self.columns = list(columns)
        self.rows = 0
        self.first_row: int | None = None
        self.last_row: int | None = None
        self._sink = sink
        self._waiting: list[_Row] | None = []
        self._room = sink.options.max_output_bytes * _ROOM_FOR_ROWS
        self._first_unlisted: int | None = None
        self._metadata: JsonObject = {"table": id, "table_name": name}

    def add(self, number: int, cells: Sequence[Cell], texts: Sequence[str]) -> None:
        """Adds one data row under its visible number; `texts` are the cells' texts."""
        self.rows += 1
        self.first_row = number if self.first_row is None else self.first_row
        self.last_row = number
        if self._waiting is None:
            self._emit_row(number, cells, texts)
            return
        self._waiting.append((number, cells, texts))
        if len(self._waiting) > SMALL_ROWS:
            self._release()

    def finish(self) -> None:
        """Emits the rows held back."""
        if self._waiting and len(self.columns) <= SMALL_COLUMNS and self._sink.options.extract_tables:
            self._emit_table(self._waiting)
        self._release()
        if self._first_unlisted:
            self._sink.skip(
                f"the rows of {self.name!r} from row {self._first_unlisted:,} on are not listed individually, as the "
                "file is very large; its copy, counts and statistics include them"
            )

    def place(self) -> JsonObject:
        """Returns where the table is: `header_row`, `first_row` and `last_row`, counted from 1; None if missing."""
        return {"header_row": self.header_row, "first_row": self.first_row, "last_row": self.last_row}

    def _release(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for number, cells, texts in waiting:
            self._emit_row(number, cells, texts)

    def _emit_row(self, number: int, cells: Sequence[Cell], texts: Sequence[str]) -> None:
        if self._sink.written > self._room:
            self._first_unlisted = self._first_unlisted or number
            return
        self._sink.emit_row(
            row_text(self.columns, texts),
            Locator(sheet=self.sheet, row=number),
            row_values(self.columns, cells, texts),
            self._metadata,
        )

    def _emit_table(self, rows: Sequence[_Row]) -> None:
        body = [[line_of(text) for text in texts] for _, _, texts in rows]
        cells = [
            TableCell(row, column, text)
            for row, line in enumerate([self.columns, *body])
            for column, text in enumerate(line)
        ]
        first = self.header_row if self.header_row is not None else rows[0][0]
        table = build_table(cells, header_rows=1)
        if table is not None:
            metadata = {**self._metadata, "rows": [number for number, _, _ in rows]}
            emit_table(self._sink, table, Locator(sheet=self.sheet, row=first, row_end=rows[-1][0]), metadata)
