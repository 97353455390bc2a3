"""The calls to providers of the last minute and the spending of the month: rows that all workers of a database share."""

from __future__ import annotations

import time
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import SpendingLimitReached
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import provider_calls, spending, usage

WINDOW_SECONDS = 60.0
_LOCK = sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))")


class PerMinute(Protocol):
    """Calls and tokens within any sixty seconds; 0 is no limit."""

    @property
    def requests(self) -> int:
        """Calls."""
        ...

    @property
    def tokens(self) -> int:
        """Tokens."""
        ...


class ProviderCallRepository:
    """Counts calls and dollars. One transaction decides about each call, so processes that share a limit never exceed it together."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def admit(self, provider: str, limits: PerMinute, tokens: int) -> float:
        """Seconds until a call of so many tokens fits; 0 when it is counted and may start now.

        A call of more tokens than the limit has is let through when no other one was made for a minute.
        """
        table = provider_calls
        async with self._database.write() as connection:
            now = await self._now(connection, provider)
            mine = table.c.provider == provider
            await connection.execute(sa.delete(table).where(mine, table.c.at <= now - WINDOW_SECONDS))
            counted = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(table.c.tokens), 0)).where(mine)
            calls, used = (await connection.execute(counted)).one()
            if calls and _exceeds(limits, calls + 1, used + tokens):
                rows = await connection.execute(sa.select(table.c.at, table.c.tokens).where(mine).order_by(table.c.at))
                for at, spent in rows:
                    calls, used = calls - 1, used - spent
                    if not calls or not _exceeds(limits, calls + 1, used + tokens):
                        return max(0.001, at + WINDOW_SECONDS - now)
            await connection.execute(sa.insert(table).values(provider=provider, at=now, tokens=tokens))
        return 0.0

    async def reserve(self, dollars: float, limit: float) -> None:
        """Count this much as spent this month. `SpendingLimitReached` when it would exceed the limit; then nothing is counted."""
        async with self._database.write() as connection:
            month = await self._month(connection)
            fits = spending.c.dollars + dollars <= limit
            if not dollars:
                fits = spending.c.dollars < limit
            change = sa.update(spending).where(spending.c.month == month, fits)
            done = await connection.execute(change.values(dollars=spending.c.dollars + dollars))
            if done.rowcount:
                return
            spent = await connection.scalar(sa.select(spending.c.dollars).where(spending.c.month == month))
        raise SpendingLimitReached(
            f"{spent or 0.0:.2f} of {limit:.2f} US dollars are spent this month, and the next call does not fit. "
            "Raise CITEWELL_MAX_SPEND; work that waits goes on from where it stopped."
        )

    async def correct(self, dollars: float) -> None:
        """Add to what was spent this month; negative for what was reserved and not spent."""
        async with self._database.write() as connection:
            month = await self._month(connection)
            change = sa.update(spending).where(spending.c.month == month)
            await connection.execute(change.values(dollars=spending.c.dollars + dollars))

    async def spent(self) -> float:
        """US dollars of this month, reservations included."""
        async with self._database.write() as connection:
            month = await self._month(connection)
            return float(await connection.scalar(sa.select(spending.c.dollars).where(spending.c.month == month)) or 0.0)

    async def _now(self, connection: AsyncConnection, provider: str) -> float:
        """The time; on Postgres the server's, after waiting for one's turn with this provider."""
        if self._database.is_sqlite:
            return time.time()
        await connection.execute(_LOCK, {"name": f"citewell/{provider}"})
        return float(await connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)

    async def _month(self, connection: AsyncConnection) -> str:
        """This month (UTC), with a row that begins with what the ledger has of it."""
        today = time.gmtime()
        month = time.strftime("%Y-%m", today)
        if await connection.scalar(sa.select(spending.c.month).where(spending.c.month == month)) is None:
            since = time.time() - (
                (today.tm_mday - 1) * 86_400 + today.tm_hour * 3_600 + today.tm_min * 60 + today.tm_sec
            )
            before = await connection.scalar(sa.select(sa.func.sum(usage.c.cost)).where(usage.c.created_at >= since))
            await connection.execute(insert_new(connection, spending), [{"month": month, "dollars": before or 0.0}])
        return month


def _exceeds(limits: PerMinute, calls: int, tokens: int) -> bool:
    return bool((limits.requests and calls > limits.requests) or (limits.tokens and tokens > limits.tokens))
