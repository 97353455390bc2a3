"""Clocks that keep running at the same rate when the system clock is set."""

from __future__ import annotations

import time

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.storage.database import Database

_POSTGRES_NOW = sa.select(sa.extract("epoch", sa.func.clock_timestamp()))


class LeaseClock:
    """Seconds since 1970, read once when the process starts and counted monotonically from there.

    Setting the system clock forward by hours would end every lease at once; setting it back would make them last for hours. On
    SQLite one process reads and writes all leases, so it counts by itself; on Postgres all processes use the database's clock.
    """

    def __init__(self, database: Database) -> None:
        self._is_ours = database.is_sqlite
        self._offset = time.time() - time.monotonic()

    async def now(self, connection: AsyncConnection) -> float:
        """The time that leases are compared with."""
        return await connection.run_sync(self.read) if not self._is_ours else self._offset + time.monotonic()

    def read(self, connection: sa.Connection) -> float:
        """The same, within a step."""
        if self._is_ours:
            return self._offset + time.monotonic()
        return float(connection.scalar(_POSTGRES_NOW) or time.time())


class MinuteClock:
    """Seconds that all processes with this database count alike, for limits per minute.

    On SQLite they are processes of one machine, which count since it was started; on Postgres they use the database's clock. What
    an earlier start of the machine, or another machine, has counted may lie ahead.
    """

    def __init__(self, database: Database) -> None:
        self._is_ours = database.is_sqlite

    async def now(self, connection: AsyncConnection) -> float:
        """The time that calls are compared with."""
        if self._is_ours:
            return time.monotonic()
        return float(await connection.scalar(_POSTGRES_NOW) or 0.0)
