"""Where readers of data files write their tables: elements, exact copies and statistics, and a metadata summary."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from citewell.errors import ParserOutOfMemory
from citewell.extract.core.sink import Sink
from citewell.extract.formats.tabular.column_types import TEXT
from citewell.extract.formats.tabular.copies import Staging, connect
from citewell.extract.formats.tabular.headers import distinct, free_name
from citewell.extract.formats.tabular.inference import ColumnKind
from citewell.extract.formats.tabular.number_formats import NumberFormat
from citewell.extract.formats.tabular.row_emitter import RowEmitter
from citewell.extract.formats.tabular.stats import Column, describe, inferred
from citewell.extract.formats.tabular.values import Cell, Shown, column_letter, json_of, text_of
from citewell.types import ROW_COLUMN, JsonObject, JsonValue

PARQUET_TYPE = "application/vnd.apache.parquet"
MAX_COLUMNS = 1_000
"""Most columns of a table; cells beyond them share one more, `MORE`, as a JSON object."""
MORE = "(more)"
_ALWAYS_COLUMNS = 100
"""Columns below which a table is never sparse."""
_CELLS_PER_VALUE = 50
"""Cells per filled cell beyond which a wider table is sparse: a few scattered values rather than a table."""
_ROOMY_CELLS = 20_000_000  # of an inflated table: far more than any non-hostile file has
_PROGRESS_ROWS = 5_000
"""Rows after which progress is reported."""


class DataFile:
    """The tables of one file. Use as a context manager; leaving it writes them and their totals to the sink's metadata.

    written: numbers are as people wrote them, with the separators of their language, rather than typed values.

    `metadata["tables"]` has one object per table: id, name, sheet?, columns (see `stats.describe`), row_count, column_count,
    header_row, first_row, last_row, copy (the blob's name).
    """

    def __init__(self, sink: Sink, readable: Path | None = None, *, written: bool = False) -> None:
        self.sink = sink
        self.written = written
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
        """Returns the emitter of a new table whose copy the caller writes."""
        self._opened += 1
        return RowEmitter(self.sink, f"t{self._opened - 1}", name, columns, header_row, sheet)

    def table(
        self, name: str, columns: Sequence[str], header_row: int | None = None, sheet: str | None = None
    ) -> TableWriter:
        """Begins a table; `finish` it before the next one begins."""
        kept, beyond = columns[:MAX_COLUMNS], columns[MAX_COLUMNS:]
        if beyond:
            kept = distinct([*kept, MORE])
        return TableWriter(self, self.emitter(name, kept, header_row, sheet), beyond)

    def add_copy(self, table: RowEmitter) -> Path:
        """Declares a table's Parquet copy and returns the path to write it to."""
        metadata: JsonObject = {
            "table": table.name,
            "table_id": table.id,
            "sheet": table.sheet,
            "columns": [ROW_COLUMN, *table.columns],
        }
        return self.sink.add_blob(f"table-{table.id[1:]}.parquet", PARQUET_TYPE, "parquet", metadata)

    def withdraw_copy(self, table: RowEmitter) -> None:
        """Withdraws a copy declared by `add_copy`, if any."""
        if self.sink.blobs and self.sink.blobs[-1].metadata.get("table_id") == table.id:
            copy = self.sink.blobs.pop()
            (self.sink.folder / copy.path).unlink(missing_ok=True)

    def record(self, table: RowEmitter, columns: Sequence[Column]) -> None:
        """Adds a table whose copy is written to the file's metadata, with statistics over all its rows."""
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


def is_sparse(rows: int, columns: int, values: int) -> bool:
    """Whether a table has too many columns for its content: beyond 100 of them, less than one filled cell in 50.

    Empty cells cost as much as others when a copy is written, so this keeps the cost in proportion to the file.
    """
    return columns >= _ALWAYS_COLUMNS and rows * columns > values * _CELLS_PER_VALUE


class TableWriter:
    """A table whose cells arrive as text or typed values: emitted, and staged for its typed copy.

    Cells of a row after the columns are in `beyond` and share the column `MORE`. `shown` is how the program
    shows all numbers of a column, by position; numbers as people wrote them show their own. `named` columns hold numbers
    that name something: their copies are texts. `coded`: some cells are `Shown`.
    """

    def __init__(self, file: DataFile, rows: RowEmitter, beyond: Sequence[str] = ()) -> None:
        self._file, self._rows = file, rows
        self._beyond = list(beyond)
        self._own = len(rows.columns) - bool(beyond)
        self._values = 0
        self._given_up = False
        self.shown: Mapping[int, NumberFormat] = {}
        self.named: Set[int] = frozenset()
        self.coded = False
        self._taken = {name.casefold() for name in (ROW_COLUMN, *rows.columns, *beyond)}
        self._staging = Staging(file.connection, f"stage_{rows.id}", len(rows.columns))

    @property
    def width(self) -> int:
        """The number of cells that a row may have before `widen` must be called."""
        return self._own + len(self._beyond)

    def add(self, number: int, cells: Sequence[Cell]) -> None:
        """Adds one data row under its visible number."""
        texts = [text_of(cell) for cell in cells]
        if self.coded:
            values = [cell.value if isinstance(cell, Shown) else text for cell, text in zip(cells, texts, strict=True)]
            self.add_with_texts(number, cells, texts, values)
        else:
            self.add_with_texts(number, cells, texts)

    def add_with_texts(
        self, number: int, cells: Sequence[Cell], texts: Sequence[str], values: Sequence[str] | None = None
    ) -> None:
        """Like `add`, for a reader that already has the cells' texts; empty text means no value.

        values: what the copy's values are read from, if not the texts
        """
        self._values += sum(map(bool, texts))
        if self._beyond and len(cells) > self._own:
            cells, texts = self._folded(cells, texts)
            values = None
        self._rows.add(number, cells, texts)
        with self._without_copy_in_shortage():
            self._staging.add(number, texts if values is None else values)
        if self._rows.rows % _PROGRESS_ROWS == 0:
            self._file.sink.progress(self._rows.rows)
            spanned = self._rows.rows * self._own
            if spanned > _ROOMY_CELLS and is_sparse(self._rows.rows, self._own, self._values):
                self._give_up_copy(f"it spans {spanned:,} cells, nearly all of them empty")

    def add_column(self, name: str) -> None:
        """Adds a column called `name`, with a number appended if the name is taken."""
        self._own += 1
        self._rows.columns.append(free_name(name, self._taken))
        self._staging.widen(len(self._rows.columns))

    def widen(self, width: int) -> None:
        """Makes room for rows longer than the header, under spreadsheet letters.

        At most 1,000 columns are opened, and none that would make the table too sparse; further cells share one.
        """
        while self.width < width:
            name = f"Column {column_letter(self.width)}"
            full = self._own >= MAX_COLUMNS or is_sparse(self._rows.rows + 1, self._own, self._values + width)
            if not self._beyond and not full:
                self.add_column(name)
                continue
            if not self._beyond:
                self.add_column(MORE)
                self._own -= 1
            self._beyond.append(free_name(name, self._taken))

    def _folded(self, cells: Sequence[Cell], texts: Sequence[str]) -> tuple[Sequence[Cell], Sequence[str]]:
        own = self._own
        beyond = zip(self._beyond, cells[own:], texts[own:], strict=False)
        more = {name: cell for name, cell, text in beyond if text}
        shared = more_cell(more) if more else ""
        return [*cells[:own], shared], [*texts[:own], shared]

    def finish(self) -> None:
        """Writes the rows held back, the copy and the statistics."""
        self._rows.finish()
        with self._without_copy_in_shortage():
            self._write_copy()
        if self._beyond:
            self._file.sink.warn(
                f"{self._rows.name!r} has {self.width:,} columns; values after the first {self._own:,} "
                f"are in the column {self._rows.columns[-1]!r}, without statistics"
            )

    def _write_copy(self) -> None:
        if self._given_up:
            return
        kinds = self._staging.kinds(lambda: self._file.sink.progress(self._rows.rows), written=self._file.written)
        kinds = [self._as_shown(kind, place) for place, kind in enumerate(kinds)]
        self._staging.write(self._file.add_copy(self._rows), self._rows.columns, kinds)
        columns = [inferred(name, kind) for name, kind in zip(self._rows.columns, kinds, strict=True)]
        self._file.record(self._rows, columns)

    def _as_shown(self, kind: ColumnKind, place: int) -> ColumnKind:
        shown = self.shown.get(place)
        if place in self.named:
            return ColumnKind(TEXT)
        return kind if shown is None else kind.as_shown(shown.decimals, grouped=shown.grouped, unit=shown.unit)

    @contextmanager
    def _without_copy_in_shortage(self) -> Generator[None]:
        """Keeps the rows of a table that is too large for the memory of its copy."""
        try:
            yield
        except duckdb.OutOfMemoryException:
            self._give_up_copy("it needs more memory than a copy may use")

    def _give_up_copy(self, reason: str) -> None:
        if self._given_up:
            return
        self._given_up = True
        self._staging.discard()
        self._file.withdraw_copy(self._rows)
        self._file.sink.skip(
            f"no exact copy and no statistics were made of the table {self._rows.name!r}, "
            f"because {reason}; its rows are kept as text"
        )


def more_cell(more: Mapping[str, Cell]) -> str:
    """Returns the cell of the column `MORE`: a JSON object of names and values."""
    return json.dumps({name: json_of(value) for name, value in more.items()}, ensure_ascii=False)
