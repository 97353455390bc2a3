"""Rows of data files for a grid, and distributions of columns, read from the exact copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.agent.tables.query.quoting import quoted
from citewell.agent.tables.run.copies import CopyReader
from citewell.errors import DamagedFile, NotFound, UnreadableCopy
from citewell.storage.files.table_copies import SqlTables
from citewell.types import ROW_COLUMN, Scope, TableInfo

_BINS = 16
_MAX_VALUES = 10
_DAMAGED_COPY = "The exact copy of this table is damaged. Upload the file again as a new version."


@dataclass(frozen=True, slots=True)
class TablePage:
    """Rows from `offset` on: the visible row number, then the cells in the order of `columns`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Any, ...]], ...]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class Bar:
    """The number of rows with this value, or with one from `label` to the next bar."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Spread:
    """numeric: bars are ranges of equal width, in order; otherwise the most frequent values. others: rows that no bar shows."""

    numeric: bool
    bars: tuple[Bar, ...]
    others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableService:
    """Reads tables from their exact copies. asker: whose turn it takes: members of a project do not use its owner's turns."""

    tables: SqlTables
    copies: CopyReader

    async def page(
        self, owner_id: str, asker: str, resource_id: str, table_id: str, offset: int, limit: int, row: int | None
    ) -> TablePage:
        """Rows in the file's order. With `row`, the page starts at that row, or the next existing one."""
        table, path = await self._open(owner_id, resource_id, table_id)
        columns = tuple(column.name for column in table.columns)
        shown = ", ".join([ROW_COLUMN, *(quoted(name) for name in columns)])
        if row is not None:
            before = await self._run(
                asker, path, f"SELECT count(*) FROM read_parquet(?) WHERE {ROW_COLUMN} < ?", [str(path), row]
            )
            offset = before[0][0]
        sql = f"SELECT {shown} FROM read_parquet(?) LIMIT {int(limit)} OFFSET {int(offset)}"
        found = await self._run(asker, path, sql, [str(path)])
        rows = tuple((int(values[0]), tuple(values[1:])) for values in found)
        return TablePage(columns, rows, offset, table.rows)

    async def spread(self, owner_id: str, asker: str, resource_id: str, table_id: str, column: str) -> Spread:
        """The distribution of a column's values. Raises `NotFound` for an unknown column."""
        table, path = await self._open(owner_id, resource_id, table_id)
        found = next((c for c in table.columns if c.name == column), None)
        if found is None:
            raise NotFound("The table has no such column.")
        numeric = found.is_numeric
        bars = await (self._histogram(asker, path, column) if numeric else self._frequent(asker, path, column))
        filled = await self._run(asker, path, f"SELECT count({quoted(column)}) FROM read_parquet(?)", [str(path)])
        return Spread(numeric, bars, max(0, filled[0][0] - sum(bar.count for bar in bars)))

    async def _histogram(self, asker: str, path: Path, column: str) -> tuple[Bar, ...]:
        # NaN and infinity are in no range.
        name = f"CASE WHEN isfinite({quoted(column)}::DOUBLE) THEN {quoted(column)}::DOUBLE END"
        ends = await self._run(asker, path, f"SELECT min({name}), max({name}) FROM read_parquet(?)", [str(path)])
        low, high = ends[0]
        if low is None:
            return ()
        width = high / _BINS - low / _BINS or 1.0  # divided first: the difference may be too large for a double
        # `least` ignores NULL, so values outside all ranges are excluded first.
        sql = (
            f"SELECT least(floor(({name} - ?) / ?), {_BINS - 1})::INTEGER, count(*) FROM read_parquet(?) "
            f"WHERE {name} IS NOT NULL GROUP BY 1"
        )
        counts = {b: n for b, n in await self._run(asker, path, sql, [low, width, str(path)]) if b is not None}
        bins = _BINS if high > low else 1
        return tuple(Bar(f"{low + width * b:.6g}", counts.get(b, 0)) for b in range(bins))

    async def _frequent(self, asker: str, path: Path, column: str) -> tuple[Bar, ...]:
        name = quoted(column)
        sql = (
            f"SELECT {name}::VARCHAR, count(*) FROM read_parquet(?) WHERE {name} IS NOT NULL "
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MAX_VALUES}"  # by place: columns may have any name
        )
        return tuple(Bar(str(value), n) for value, n in await self._run(asker, path, sql, [str(path)]))

    async def _open(self, owner_id: str, resource_id: str, table_id: str) -> tuple[TableInfo, Path]:
        for table in await self.tables.list_tables(owner_id, Scope(resource_ids=(resource_id,))):
            if (table.resource_id, table.id) == (resource_id, table_id):
                return table, await self.tables.open_table(owner_id, table)
        raise NotFound("The file has no such table.")

    async def _run(self, asker: str, path: Path, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            return await self.copies.run(asker, path, sql, parameters)
        except UnreadableCopy as error:
            raise DamagedFile(_DAMAGED_COPY) from error
