"""How often somebody has tried to sign in: by account and by address, for all servers of a database together."""

from __future__ import annotations

import hashlib
import time

import sqlalchemy as sa

from citewell.storage.accounts.tables import attempts
from citewell.storage.database import Database, upsert


class AttemptRepository:
    """Counts attempts within spans of time. Each is counted before its password is looked at, so that many at once gain nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, kind: str, name: str, seconds: float) -> tuple[int, float]:
        """Count an attempt: how many there were in this span, and the seconds that are left of it."""
        now, table = time.time(), attempts
        goes_on = table.c.until > now
        async with self._database.write() as connection:
            await connection.execute(sa.delete(table).where(table.c.until <= now))
            row = await upsert(
                connection,
                {table.c.key: _key(kind, name), table.c.tried: 1, table.c.until: now + seconds},
                {
                    table.c.tried: sa.case((goes_on, table.c.tried + 1), else_=1),
                    table.c.until: sa.case((goes_on, table.c.until), else_=now + seconds),
                },
            )
        return row.tried, min(seconds, row.until - now)

    async def take_back(self, kind: str, name: str) -> None:
        """Count one attempt less: it was no guess."""
        one_less = sa.update(attempts).where(attempts.c.key == _key(kind, name), attempts.c.tried > 0)
        async with self._database.write() as connection:
            await connection.execute(one_less.values(tried=attempts.c.tried - 1))

    async def forget(self, kind: str, name: str) -> None:
        """Begin to count from nothing again, after a sign-in that succeeded."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(attempts).where(attempts.c.key == _key(kind, name)))


def _key(kind: str, name: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}".encode()).hexdigest()
