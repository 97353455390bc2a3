"""Where the readers of data files put their tables: elements, exact copies and statistics, summed up in the metadata."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from citewell.errors import ParserOutOfMemory
from citewell.extract.sink import Sink
from citewell.extract.tabular.copies import ROW_COLUMN, Staging, connect
from citewell.extract.tabular.row_emitter import RowEmitter
from citewell.extract.tabular.stats import Column, describe, inferred
from citewell.extract.tabular.values import Cell, text_of
from citewell.types import JsonObject, JsonValue

PARQUET_TYPE = "application/vnd.apache.parquet"
_PROGRESS_ROWS = 5_000


class DataFile:
    """The tables of one file. Use as a context manager; leaving it writes them and their totals to the sink's metadata.

    `metadata["tables"]` has one object per table: id, name, sheet?, columns (see `stats.describe`), row_count, column_count,
    header_row, first_row, last_row, copy (the blob's name).
    """

    def __init__(self, sink: Sink, readable: Path | None = None) -> None:
        self.sink = sink
        self.connection: duckdb.DuckDBPyConnection = connect(sink.folder, readable)
        self._tables: list[JsonObject] = []
        self._opened = 0
        self._rows = 0
        self._columns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()
        if isinstance(error, duckdb.OutOfMemoryException):
            raise ParserOutOfMemory from error
        for leftover in self.sink.folder.glob("staging.duckdb*"):
            leftover.unlink()
        self.sink.metadata |= {"tables": self._tables, "row_count": self._rows, "column_count": self._columns}

    def emitter(
        self, name: str, columns: Sequence[str], header_row: int | None = None, sheet: str | None = None
    ) -> RowEmitter:
        """The elements of a new table, whose copy the caller writes."""
        self._opened += 1
        return RowEmitter(self.sink, f"t{self._opened - 1}", name, columns, header_row, sheet)

    def table(
        self, name: str, columns: Sequence[str], header_row: int | None = None, sheet: str | None = None
    ) -> TableWriter:
        """Begin a table; `finish` it before the next one begins."""
        return TableWriter(self, self.emitter(name, columns, header_row, sheet))

    def add_copy(self, table: RowEmitter) -> Path:
        """Declare a table's Parquet copy and return the path to write it to."""
        metadata: JsonObject = {
            "table": table.name,
            "table_id": table.id,
            "sheet": table.sheet,
            "columns": [ROW_COLUMN, *table.columns],
        }
        return self.sink.add_blob(f"table-{table.id[1:]}.parquet", PARQUET_TYPE, "parquet", metadata)

    def record(self, table: RowEmitter, columns: Sequence[Column]) -> None:
        """Take a table whose copy is written into the file's metadata, with statistics over all its rows."""
        copy = self.sink.blobs[-1]
        facts: dict[str, JsonValue] = {"id": table.id, "name": table.name}
        if table.sheet is not None:
            facts["sheet"] = table.sheet
        facts["columns"] = describe(
            self.connection, self.sink.folder / copy.path, columns, table.rows, lambda: self.sink.progress(table.rows)
        )
        facts |= {"row_count": table.rows, "column_count": len(columns), **table.place(), "copy": copy.name}
        self._tables.append(facts)
        self._rows += table.rows
        self._columns += len(columns)
        self.sink.progress(table.rows)


class TableWriter:
    """A table whose cells come as text or typed values: emitted, and staged for its typed copy."""

    def __init__(self, file: DataFile, rows: RowEmitter) -> None:
        self._file, self._rows = file, rows
        self._staging = Staging(file.connection, f"stage_{rows.id}", len(rows.columns))

    @property
    def columns(self) -> Sequence[str]:
        """The columns' names."""
        return self._rows.columns

    def add(self, number: int, cells: Sequence[Cell]) -> None:
        """One data row under the number that a person sees."""
        self.add_with_texts(number, cells, [text_of(cell) for cell in cells])

    def add_with_texts(self, number: int, cells: Sequence[Cell], texts: Sequence[str]) -> None:
        """`add` for a reader that has the cells' texts already; empty text stands for nothing."""
        self._rows.add(number, cells, texts)
        self._staging.add(number, texts)
        if self._rows.rows % _PROGRESS_ROWS == 0:
            self._file.sink.progress(self._rows.rows)

    def add_column(self, name: str) -> None:
        """Widen the table for rows that are longer than its header."""
        self._rows.columns.append(name)
        self._staging.widen(len(self._rows.columns))

    def finish(self) -> None:
        """Write what waits, the copy and the statistics."""
        self._rows.finish()
        kinds = self._staging.kinds(lambda: self._file.sink.progress(self._rows.rows))
        self._staging.write(self._file.add_copy(self._rows), self.columns, kinds)
        columns = [inferred(name, kind) for name, kind in zip(self.columns, kinds, strict=True)]
        self._file.record(self._rows, columns)
