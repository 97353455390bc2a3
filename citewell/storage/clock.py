"""Clocks that are immune to changes of the system clock."""

from __future__ import annotations

import time

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.storage.database import Database

_POSTGRES_NOW = sa.select(sa.extract("epoch", sa.func.clock_timestamp()))


class LeaseClock:
    """Seconds since 1970, read once when the process starts and counted monotonically from there.

    Otherwise, setting the system clock forward would expire every lease at once, and setting it back would extend them
    all. On SQLite, one process reads and writes all leases and uses its own clock; on Postgres, all processes use the
    database's clock.
    """

    def __init__(self, database: Database) -> None:
        self._is_ours = database.is_sqlite
        self._offset = time.time() - time.monotonic()

    async def now(self, connection: AsyncConnection) -> float:
        """Returns the current time, for comparison with lease expiry."""
        return await connection.run_sync(self.read) if not self._is_ours else self._offset + time.monotonic()

    def read(self, connection: sa.Connection) -> float:
        """Synchronous version of `now`, for code that already has a connection in its thread."""
        if self._is_ours:
            return self._offset + time.monotonic()
        return float(connection.scalar(_POSTGRES_NOW) or time.time())


class MinuteClock:
    """A clock in seconds shared by all processes on one database, for per-minute limits.

    On SQLite, all processes run on one machine and count seconds since it booted; on Postgres, they use the database's
    clock. Times stored before a reboot, or by another machine, may lie in the future.
    """

    def __init__(self, database: Database) -> None:
        self._is_ours = database.is_sqlite

    async def now(self, connection: AsyncConnection) -> float:
        """Returns the current time, for comparison with recorded calls."""
        if self._is_ours:
            return time.monotonic()
        return float(await connection.scalar(_POSTGRES_NOW) or 0.0)
