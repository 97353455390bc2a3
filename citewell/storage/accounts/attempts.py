"""Counts of sign-in attempts by account and by address, shared by all servers on a database."""

from __future__ import annotations

import hashlib
import time

import sqlalchemy as sa

from citewell.storage.accounts.tables import attempts
from citewell.storage.database import Database, upsert


class AttemptRepository:
    """Counts attempts within time windows, before the password is checked, so that parallel attempts gain nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, kind: str, name: str, seconds: float) -> tuple[int, float]:
        """Counts an attempt; returns the number in this window, and the seconds left in it."""
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
        """Takes back one attempt that was not a guess."""
        one_less = sa.update(attempts).where(attempts.c.key == _key(kind, name), attempts.c.tried > 0)
        async with self._database.write() as connection:
            await connection.execute(one_less.values(tried=attempts.c.tried - 1))

    async def forget(self, kind: str, name: str) -> None:
        """Resets the count after a successful sign-in."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(attempts).where(attempts.c.key == _key(kind, name)))


def _key(kind: str, name: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}".encode()).hexdigest()
