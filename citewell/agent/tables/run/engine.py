"""Answers typed queries on the exact copies of an owner's tables."""

from __future__ import annotations

import asyncio
import importlib
import logging
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from citewell.agent.interface import Tables
from citewell.agent.tables.query.compile import Compiled, compile_query
from citewell.agent.tables.query.quoting import quoted
from citewell.agent.tables.query.typed import Function, TableQuery
from citewell.agent.tables.run.copies import CopyReader
from citewell.errors import CitewellError, InvalidInput
from citewell.types import TableInfo

log = logging.getLogger(__name__)

_ENDS = frozenset({Function.MIN, Function.MAX})


class PlainInteger(int):
    """A whole number as the file has it: `4006381333948`, which may name something."""


Cell = str | int | float | bool | date | datetime | time | None
"""What a query gives of a value, whatever type the copy holds it in."""


@dataclass(frozen=True, slots=True)
class RowFacts:
    """The rows that a result row came from, by the numbers a person sees; `listed` holds the first 50."""

    count: int
    first: int | None
    last: int | None
    listed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """Values in the order of the result's columns, each a `Cell`, and where they came from."""

    values: tuple[Any, ...]
    rows: RowFacts


@dataclass(frozen=True, slots=True)
class TableResult:
    """What a query found. `grouped`: rows are groups or totals; else rows of the table itself."""

    table: TableInfo
    query: TableQuery
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    grouped: bool


class UnusableTable(Exception):
    """A table that a question cannot be put to. `notice` says so to the person who asked."""

    def __init__(self, table: TableInfo, reason: str) -> None:
        self.table = table
        self.reason = reason
        self.notice = f"{table_name(table)} was left out of this answer. {reason}"
        super().__init__(self.notice)


@contextmanager
def faults_of(table: TableInfo, but: type[CitewellError] | None = None) -> Generator[None]:
    """Whatever goes wrong in the block is this table's fault, and becomes `UnusableTable`: one file must not end every question.

    but: errors that are the query's fault, and pass through.
    """
    try:
        yield
    except UnusableTable:
        raise
    except CitewellError as error:
        if but is not None and isinstance(error, but):
            raise
        log.warning("%s is left out of an answer: %s", table_name(table), error.message)
        raise UnusableTable(table, error.message) from error
    except Exception as error:
        log.exception("%s is left out of an answer", table_name(table))
        raise UnusableTable(table, "Its values could not be read; the server's log has the reason.") from error


class TableEngine:
    """Answers typed queries on an owner's tables. copies: reads them; None for a reader of its own."""

    def __init__(self, tables: Tables, copies: CopyReader | None = None) -> None:
        self.tables = tables
        self._copies = copies or CopyReader()

    async def prepare(self) -> None:
        """Load DuckDB."""
        await asyncio.to_thread(importlib.import_module, "duckdb")

    async def run(self, owner_id: str, table: TableInfo, query: TableQuery) -> TableResult:
        """The exact result over all rows; `InvalidInput` for what the table cannot answer, `Unavailable` past the time limit."""
        compiled = compile_query(query, table)
        path = await self.tables.open_table(owner_id, table)
        rows = await self._copies.run(owner_id, path, compiled.sql, [str(path), *compiled.parameters])
        return result_of(table, query, compiled, rows)

    async def distinct(self, owner_id: str, table: TableInfo, column: str, most: int) -> tuple[str, ...] | None:
        """The different texts of a column, or None when there are more than `most`."""
        path = await self.tables.open_table(owner_id, table)
        name = quoted(column)
        sql = f"SELECT DISTINCT {name} FROM read_parquet(?) WHERE {name} IS NOT NULL LIMIT {int(most) + 1}"  # noqa: S608
        rows = await self._copies.run(owner_id, path, sql, [str(path)])
        return tuple(sorted(str(row[0]) for row in rows)) if len(rows) <= most else None


def result_of(table: TableInfo, query: TableQuery, compiled: Compiled, rows: Sequence[tuple[Any, ...]]) -> TableResult:
    """The rows that a compiled query gave, as its result."""
    as_written = _written_plain(table, query)
    plain = [name in as_written for name in compiled.names]
    return TableResult(
        table, query, compiled.names, tuple(_row(row, compiled, plain) for row in rows), compiled.grouped
    )


def _written_plain(table: TableInfo, query: TableQuery) -> frozenset[str]:
    """The columns of a result that hold whole numbers as the file has them, without signs between groups of digits."""
    plain = {c.name for c in table.columns if c.is_numeric and not (c.grouped or c.unit or c.decimals)}
    ends = {a.name for a in query.aggregates if a.function in _ENDS and a.part is None and a.column in plain}
    return frozenset(plain | ends) if query.aggregates or query.groups else frozenset(plain)


def find_table(tables: Sequence[TableInfo], source: str) -> TableInfo:
    """The table that `source` names: its key, `file/sheet`, a sheet's name, or a file with one table; `InvalidInput` lists them."""
    wanted = source.strip().casefold()
    for names in (_key_names, _full_names, _short_names):
        found = [table for table in tables if wanted in names(table)]
        if len(found) == 1:
            return found[0]
    listed = "; ".join(f"{table_key(t)} ({table_name(t)})" for t in tables)
    raise InvalidInput(f"`source` must name one of: {listed or 'there are no tables'}.")


def table_key(table: TableInfo) -> str:
    """What names the table and no other: `resource id/table id`."""
    return f"{table.resource_id}/{table.id}"


def table_name(table: TableInfo) -> str:
    """What people call the table: file and sheet."""
    return f"{table.filename}/{table.sheet}" if table.sheet is not None else table.filename


def _key_names(table: TableInfo) -> set[str]:
    return {table_key(table).casefold()}


def _full_names(table: TableInfo) -> set[str]:
    names = {table.name, table.sheet or table.name}
    return {f"{part}/{name}".casefold() for part in (table.filename, table.resource_id) for name in names}


def _short_names(table: TableInfo) -> set[str]:
    return {name.casefold() for name in (table.name, table.sheet, table.filename, table.resource_id) if name}


def _row(row: tuple[Any, ...], compiled: Compiled, plain: Sequence[bool]) -> ResultRow:
    width = len(compiled.names)
    if not compiled.grouped:
        return ResultRow(_cells(row[:width], plain), RowFacts(1, row[width], row[width], (row[width],)))
    count, first, last, listed = row[width:]
    return ResultRow(_cells(row[:width], plain), RowFacts(count, first, last, tuple(listed or ())))


def _cells(values: Sequence[object], plain: Sequence[bool]) -> tuple[Cell, ...]:
    cells = map(as_cell, values)
    return tuple(as_plain(cell) if whole else cell for cell, whole in zip(cells, plain, strict=True))


def as_plain(cell: Cell) -> Cell:
    """A whole number as one that is shown without signs between groups of digits; anything else as it is."""
    if isinstance(cell, bool) or not isinstance(cell, int | float) or abs(cell) == math.inf or cell != cell // 1:
        return cell
    return PlainInteger(cell)


def as_cell(value: object) -> Cell:
    """A database value as one of the kinds that planners, phrases and pictures know; others become their text."""
    if value is None or isinstance(value, str | int | float | date | time):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    return str(value)
