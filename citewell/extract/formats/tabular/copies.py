"""Exact copies: a table's rows staged as text in a scratch database, then written to Parquet with typed columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from citewell.extract.formats.tabular.column_types import literal
from citewell.extract.formats.tabular.inference import ColumnKind, infer
from citewell.types import ROW_COLUMN

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_BATCH_CELLS = 100_000
_BATCH_ROWS = 500  # of a wide table: with fewer, planning an insert costs more than its cells
_MAX_BATCH_CELLS = 1_000_000
_BATCH_CHARACTERS = 16 * 1024 * 1024
_MEMORY = "256MB"
_BLOCK = 16_384  # the minimum: a table under construction holds a block per column in memory
_VECTOR = 2_048
_GROUP_ROWS = 60 * _VECTOR
_GROUP_CELLS = 2_000_000


def connect(folder: Path, readable: Path | None = None) -> DuckDBPyConnection:
    """Opens a database that can access only the scratch folder (and one more file to read), within fixed memory."""
    import duckdb

    connection = duckdb.connect(
        str(folder / "staging.duckdb"),
        config={
            "memory_limit": _MEMORY,
            "default_block_size": _BLOCK,
            "threads": 1,
            "temp_directory": str(folder / "staging.tmp"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_geoparquet_conversion = false")
    connection.execute(f"SET allowed_directories = [{literal(str(folder))}]")
    connection.execute(f"SET allowed_paths = [{literal(str(readable)) if readable else ''}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def quoted(identifier: str) -> str:
    """Quotes an SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def write_parquet(connection: DuckDBPyConnection, query: str, path: Path, width: int) -> None:
    """Writes a query's rows; wide tables in small row groups, so that one fits in the memory limit."""
    group = max(_VECTOR, min(_GROUP_ROWS, _GROUP_CELLS // max(1, width)) // _VECTOR * _VECTOR)
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {group}"
    connection.execute(f"COPY ({query}) TO {literal(str(path))} ({options})")


class Staging:
    """One table on its way to its copy. Cells are text, empty for no value; memory holds one batch."""

    def __init__(self, connection: DuckDBPyConnection, name: str, width: int) -> None:
        self.rows = 0
        self._connection = connection
        self._name = name
        self._width = self._stored_width = width
        self._numbers: list[int] = []
        self._batch: list[Sequence[str]] = []
        self._widest = self._characters = 0
        self._discarded = False
        columns = [f"{ROW_COLUMN} BIGINT", *(f"c{index} VARCHAR" for index in range(width))]
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")

    def widen(self, width: int) -> None:
        """Makes room for more columns; earlier rows are empty in them."""
        self._width = max(self._width, width)

    def add(self, number: int, cells: Sequence[str]) -> None:
        """Stages one row under its visible number; `cells` has at most the table's width."""
        if self._discarded:
            return
        self._widest = max(self._widest, len(cells))
        if (len(self._batch) + 1) * self._widest > _MAX_BATCH_CELLS:  # a wide row after many narrow ones
            self._flush()
            self._widest = len(cells)
        self._numbers.append(number)
        self._batch.append(cells)
        self._characters += sum(map(len, cells))
        self.rows += 1
        full = len(self._batch) * self._widest >= _BATCH_CELLS and len(self._batch) >= _BATCH_ROWS
        if full or self._characters >= _BATCH_CHARACTERS:
            self._flush()

    def discard(self) -> None:
        """Gives up the copy: drops the staged rows and accepts no more."""
        self._discarded = True
        self._numbers, self._batch = [], []
        self._connection.execute(f"DROP TABLE IF EXISTS {self._name}")

    def kinds(self, beat: Callable[[], None], *, written: bool) -> list[ColumnKind]:
        """Infers each column's kind over all rows, calling `beat`. written: numbers are as people wrote them."""
        self._flush()
        return infer(self._connection, self._name, self._width, beat, written=written)

    def write(self, path: Path, names: Sequence[str], kinds: Sequence[ColumnKind]) -> None:
        """Writes the Parquet copy and drops the staged rows."""
        columns = [
            f"{kind.value(f'c{i}')} AS {quoted(name)}" for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ]
        query = f"SELECT {', '.join([ROW_COLUMN, *columns])} FROM {self._name}"
        write_parquet(self._connection, query, path, self._width)
        self._connection.execute(f"DROP TABLE {self._name}")

    def _flush(self) -> None:
        for index in range(self._stored_width, self._width):
            self._connection.execute(f"ALTER TABLE {self._name} ADD COLUMN c{index} VARCHAR")
        self._stored_width = self._width
        if not self._batch:
            return
        # Columns without a value in this batch are omitted: sparse tables consist mostly of these.
        filled = [(f"c{i}", column) for i, column in enumerate(zip_longest(*self._batch, fillvalue="")) if any(column)]
        batch = {name: np.array(column, dtype=object) for name, column in filled}
        batch["n"] = np.array(self._numbers, dtype=np.int64)
        self._connection.register("batch", batch)
        names = ", ".join([ROW_COLUMN, *(name for name, _ in filled)])
        values = ", ".join(["n", *(f"nullif({name}, '')" for name, _ in filled)])
        self._connection.execute(f"INSERT INTO {self._name} ({names}) SELECT {values} FROM batch")
        self._connection.unregister("batch")
        self._numbers, self._batch, self._widest, self._characters = [], [], 0, 0
