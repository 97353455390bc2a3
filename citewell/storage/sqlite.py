"""SQLite connections, each with its own thread. A statement and its rows take one hop to that thread."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import aiosqlite

from citewell.storage.sql_functions import SQL_FUNCTIONS

_THREAD_SECONDS = 10.0
_ROWS_PER_STEP = 64
_PRAGMAS = """
    PRAGMA journal_mode=WAL;
    PRAGMA synchronous=FULL;
    PRAGMA foreign_keys=ON;
    PRAGMA busy_timeout=30000;
    PRAGMA temp_store=MEMORY;
    PRAGMA cache_size=-32000;
    PRAGMA mmap_size=268435456;
"""


class _Plain(sqlite3.Connection):
    """Rolls back before it closes.

    SQLite delays the rollback until the last statement is finalized. The traceback of a canceled request may keep that
    statement alive, and every writer would find the database locked meanwhile.
    """

    def close(self) -> None:
        with contextlib.suppress(sqlite3.ProgrammingError):  # already closed
            if self.in_transaction:
                self.rollback()
        super().close()


class FileConnection(aiosqlite.Connection):
    """A connection to a database file that runs each statement in one hop to its thread.

    aiosqlite's cursors take four: open, execute, fetch, close. Each hop wakes two threads, which costs more than most
    statements. A transaction begins with its first statement; an empty one costs nothing.
    """

    def __init__(self, path: str) -> None:
        connect = partial(sqlite3.connect, path, isolation_level=None, check_same_thread=False, factory=_Plain)
        super().__init__(connect, _ROWS_PER_STEP)
        self._begin: str | None = None
        self._is_open = False  # whether the transaction has executed a statement

    def begins(self, immediate: bool) -> None:
        """Marks the start of a transaction; `immediate` if it will write."""
        self._begin = "BEGIN IMMEDIATE" if immediate else "BEGIN"

    def cursor(self) -> Cursor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns a cursor, which costs nothing until it executes."""
        return Cursor(self)

    async def commit(self) -> None:
        """Commits the transaction."""
        self._begin = None
        if self._is_open:
            await super().commit()
            self._is_open = False  # not reached if the commit failed: rollback follows

    async def rollback(self) -> None:
        """Rolls the transaction back.

        The pool does so for every returned connection, most of which have no open transaction.
        """
        self._begin = None
        if self._is_open:
            await super().rollback()
            self._is_open = False

    async def step(self, cursor: Cursor, many: bool, statement: str, parameters: Iterable[Any]) -> None:
        """Executes one statement in the connection's thread and stores its result in the cursor."""
        begin, self._begin, self._is_open = self._begin, None, True
        await self._execute(cursor.run, self._conn, begin, many, statement, parameters)


class Cursor:
    """The cursor interface that SQLAlchemy needs. `execute` fetches all rows at once."""

    def __init__(self, connection: FileConnection) -> None:
        self._connection = connection
        self._rows: Sequence[Any] = ()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Cursor:
        return self

    async def execute(self, statement: str, parameters: Iterable[Any] = ()) -> None:
        """Executes a statement and fetches its rows."""
        await self._connection.step(self, False, statement, parameters)

    async def executemany(self, statement: str, parameters: Iterable[Iterable[Any]]) -> None:
        """Executes a statement once for each set of parameters."""
        await self._connection.step(self, True, statement, parameters)

    async def fetchall(self) -> Sequence[Any]:
        """Returns the rows on the first call."""
        rows, self._rows = self._rows, ()
        return rows

    async def close(self) -> None:
        """Discards the rows."""
        self._rows = ()

    def run(
        self, connection: sqlite3.Connection, begin: str | None, many: bool, statement: str, parameters: Iterable[Any]
    ) -> None:
        """Executes the statement; called in the connection's thread."""
        if begin is not None:
            connection.execute(begin)
        cursor = connection.cursor()
        try:
            (cursor.executemany if many else cursor.execute)(statement, parameters)  # pyright: ignore[reportArgumentType]
            self.description = cursor.description
            if cursor.description is not None:
                self._rows = cursor.fetchall()
            self.rowcount, self.lastrowid = (
                cursor.rowcount,
                cursor.lastrowid,
            )  # with RETURNING, known only after all rows are fetched
        finally:
            cursor.close()


class FileConnections:
    """Opens connections. A request canceled while connecting leaves none open, and no thread outlives `close`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._abandoned: set[asyncio.Task[None]] = set()
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    async def connect(self) -> FileConnection:
        """Opens a connection with the pragmas set."""
        opening = asyncio.ensure_future(self._open())
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            closing = asyncio.ensure_future(_close_once_open(opening))
            self._abandoned.add(closing)
            closing.add_done_callback(self._abandoned.discard)
            raise

    async def close(self) -> None:
        """Waits for abandoned connections and for the threads, which report to the event loop before they exit."""
        await asyncio.gather(*self._abandoned)
        for thread in list(self._threads):
            await asyncio.to_thread(thread.join, _THREAD_SECONDS)

    async def _open(self) -> FileConnection:
        connection = FileConnection(self._path)
        self._threads.add(connection._thread)  # pyright: ignore[reportPrivateUsage]
        try:
            await connection
            await connection.executescript(_PRAGMAS)
            for name, (arguments, function) in SQL_FUNCTIONS.items():
                await connection.create_function(name, arguments, function, deterministic=True)
        except BaseException:
            await connection.close()  # otherwise its thread would keep the process alive
            raise
        return connection


async def _close_once_open(opening: asyncio.Future[FileConnection]) -> None:
    with contextlib.suppress(sqlite3.Error, OSError):
        await (await opening).close()


def prepare(connection: Any, _record: object) -> None:
    """Sets the pragmas and functions on a synchronous connection; a pool event listener."""
    connection.isolation_level = None
    connection.executescript(_PRAGMAS)
    for name, (arguments, function) in SQL_FUNCTIONS.items():
        connection.create_function(name, arguments, function, deterministic=True)
