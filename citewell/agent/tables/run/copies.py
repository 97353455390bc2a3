"""Reads the Parquet copies of tables with DuckDB: in threads of its own, within fixed memory and time, with no way to any other file."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.errors import InvalidInput, Unavailable, UnreadableCopy
from citewell.system.shares import Shares

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

log = logging.getLogger(__name__)
# Bounds of a query's cost, set by hand: enough for a scan of some ten million rows, and little beside the server itself.
_MEMORY = "256MB"
_SECONDS = 20.0
_INTERRUPT_SECONDS = 0.05  # between two interruptions of a query that should end
_OPEN = 8  # connections
# Queries at once, of all owners and of one, and how many of one owner wait for that: a page of a grid asks for many.
_AT_ONCE = 4
_EACH = 2
_WAITING = 100


class CopyReader:
    """Runs SQL on exact copies, in threads of its own: an owner's long queries never occupy the threads that all requests share.

    A query ends after `_SECONDS` of running, or when its caller stops waiting. An application makes one reader: an owner's limit holds
    for the queries of one reader, wherever they come from.
    """

    def __init__(self) -> None:
        self._shares = Shares("queries of tables", each=_EACH, waiting=_WAITING, altogether=_AT_ONCE)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "table-query")
        self._connections: OrderedDict[Path, DuckDBPyConnection] = OrderedDict()

    async def run(self, owner_id: str, path: Path, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """All rows. `InvalidInput`, `UnreadableCopy`, `Unavailable` past the time limit, `RateLimited` for an owner with too many queries."""
        async with self._shares.hold(owner_id):
            cursor = (await self._connection(path)).cursor()
            work = asyncio.get_running_loop().run_in_executor(self._threads, _execute, cursor, sql, parameters)
            try:
                done, _ = await asyncio.wait({work}, timeout=_SECONDS)
                if not done:
                    raise Unavailable(
                        f"The query took longer than {_SECONDS:.0f} seconds and was cancelled. Narrow it."
                    )
                return work.result()
            finally:
                await _stopped(cursor, work)

    async def _connection(self, path: Path) -> DuckDBPyConnection:
        """Opening takes 20-90 ms, so the last few stay open; one that is put out closes when its last cursor is gone."""
        connection = self._connections.pop(path, None)
        if connection is None:
            connection = await asyncio.get_running_loop().run_in_executor(self._threads, connect, path)
        self._connections[path] = connection
        while len(self._connections) > _OPEN:
            self._connections.popitem(last=False)
        return connection


async def _stopped(cursor: DuckDBPyConnection, work: asyncio.Future[list[tuple[Any, ...]]]) -> None:
    """Return when the query has ended; one that has not begun yet does not hear the first interruption."""
    while not work.done():
        cursor.interrupt()
        await asyncio.wait({work}, timeout=_INTERRUPT_SECONDS)
    if not work.cancelled():
        work.exception()  # nobody else asks for it


def _execute(connection: DuckDBPyConnection, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    import duckdb

    try:
        return connection.execute(sql, parameters).fetchall()
    except duckdb.OutOfMemoryException:
        raise Unavailable("The query exceeds its memory limit. Narrow it.") from None
    except duckdb.InterruptException:
        raise Unavailable("The query was cancelled.") from None
    except (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.BinderException):
        raise InvalidInput(
            "The table cannot answer this query: a value does not fit its column, or a result is out of range."
        ) from None
    except (
        duckdb.IOException,
        duckdb.PermissionException,
        duckdb.InvalidInputException,
        duckdb.SerializationException,
    ):
        raise UnreadableCopy from None
    except (duckdb.Error, OverflowError) as error:
        # What the engine says is about its own types and functions.
        log.info("a table query was refused: %s", error)
        raise InvalidInput(
            "The query does not fit the table: a value, a sum or a comparison is not one that its columns allow."
        ) from None


def connect(path: Path) -> DuckDBPyConnection:
    """A database in memory that can read one file and nothing else."""
    import duckdb

    connection = duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "threads": 1,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET allowed_paths = [" + "'" + str(path).replace("'", "''") + "']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
