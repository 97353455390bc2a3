"""Where the readers of data files put their tables: row elements, small tables whole, exact copies and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from citewell.extract.sink import Sink
from citewell.extract.tabular.copies import ROW_COLUMN, Staging, connect
from citewell.extract.tabular.grids import grid_of, html_of, markdown_of
from citewell.extract.tabular.stats import describe
from citewell.extract.tabular.values import Cell, json_of, row_text, text_of
from citewell.types import ElementType, JsonObject, Locator

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARQUET_TYPE = "application/vnd.apache.parquet"
SMALL_ROWS = 50
SMALL_COLUMNS = 20
_PROGRESS_ROWS = 5_000


class DataFile:
    """The tables of one file. Use as a context manager; leaving it writes the totals to the sink's metadata."""

    def __init__(self, sink: Sink, readable: Path | None = None) -> None:
        self.sink = sink
        self.connection: DuckDBPyConnection = connect(sink.folder, readable)
        self._tables: list[JsonObject] = []
        self._opened = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()
        for leftover in self.sink.folder.glob("staging.*"):
            if leftover.is_file():
                leftover.unlink()
        self.sink.metadata["tables"] = self._tables
        self.sink.metadata["row_count"] = sum(_number(table, "row_count") for table in self._tables)
        self.sink.metadata["column_count"] = sum(_number(table, "column_count") for table in self._tables)

    def table(self, name: str, columns: Sequence[str], header_row: int | None, sheet: str | None = None) -> TableWriter:
        """Begin a table; `finish` it before the next one begins."""
        self._opened += 1
        return TableWriter(self, f"t{self._opened - 1}", name, columns, header_row, sheet)

    def record(self, facts: JsonObject) -> None:
        """Take a finished table's facts into the file's metadata."""
        self._tables.append(facts)


class TableWriter:
    """One table: every row becomes an element and goes to the copy; a small table becomes an element as a whole first."""

    def __init__(
        self, file: DataFile, id: str, name: str, columns: Sequence[str], header_row: int | None, sheet: str | None
    ) -> None:
        self.id = id
        self.columns = list(columns)
        self._file, self._name, self._header_row, self._sheet = file, name, header_row, sheet
        self._staging = Staging(file.connection, f"stage_{id}", len(columns))
        self._waiting: list[tuple[int, Sequence[Cell]]] | None = [] if len(columns) <= SMALL_COLUMNS else None
        self._first_row: int | None = None
        self._last_row: int | None = None
        self._metadata: JsonObject = {"table": id, "table_name": name}

    def add(self, number: int, cells: Sequence[Cell]) -> None:
        """One data row under the number that a person sees."""
        if self._first_row is None:
            self._first_row = number
        self._last_row = number
        self._staging.add(number, [None if cell is None else text_of(cell) for cell in cells])
        if self._waiting is None:
            self._emit_row(number, cells)
        else:
            self._waiting.append((number, cells))
            if len(self._waiting) > SMALL_ROWS:
                self._release()
        if self._staging.rows % _PROGRESS_ROWS == 0:
            self._file.sink.progress(self._staging.rows)

    def add_column(self, name: str) -> None:
        """Widen the table for rows that are longer than its header."""
        self.columns.append(name)
        self._staging.widen(len(self.columns))

    def finish(self) -> None:
        """Write what waits, the copy and the statistics."""
        if self._waiting is not None:
            if self._waiting:
                self._emit_table(self._waiting)
            self._release()
        sink, rows = self._file.sink, self._staging.rows
        kinds = self._staging.kinds()
        sink.progress(rows)
        copy = f"table-{self.id[1:]}.parquet"
        metadata: JsonObject = {
            "table": self._name,
            "table_id": self.id,
            "sheet": self._sheet,
            "columns": [ROW_COLUMN, *self.columns],
        }
        path = sink.add_blob(copy, PARQUET_TYPE, "parquet", metadata)
        self._staging.write(path, self.columns, kinds)
        self._file.record(
            {
                "id": self.id,
                "name": self._name,
                **({"sheet": self._sheet} if self._sheet is not None else {}),
                "columns": describe(self._file.connection, path, self.columns, kinds, rows),
                "row_count": rows,
                "column_count": len(self.columns),
                "header_row": self._header_row,
                "first_row": self._first_row,
                "last_row": self._last_row,
                "copy": copy,
            }
        )
        sink.progress(rows)

    def _release(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for number, cells in waiting:
            self._emit_row(number, cells)

    def _emit_row(self, number: int, cells: Sequence[Cell]) -> None:
        values = {name: json_of(cell) for name, cell in zip(self.columns, cells, strict=False) if cell is not None}
        self._file.sink.emit(
            ElementType.ROW,
            row_text(self.columns, cells),
            Locator(sheet=self._sheet, row=number),
            values=values,
            metadata=self._metadata,
        )

    def _emit_table(self, rows: Sequence[tuple[int, Sequence[Cell]]]) -> None:
        grid = grid_of(self.columns, [cells for _, cells in rows])
        first = self._header_row if self._header_row is not None else rows[0][0]
        self._file.sink.emit(
            ElementType.TABLE,
            markdown_of(grid),
            Locator(sheet=self._sheet, row=first, row_end=rows[-1][0]),
            html=html_of(grid),
            grid=grid,
            header_rows=1,
            metadata=self._metadata,
        )


def _number(facts: JsonObject, key: str) -> int:
    value = facts[key]
    return value if isinstance(value, int) else 0
