"""Provider calls within the last minute and spending this month, shared by all workers on a database."""

from __future__ import annotations

import time
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import SpendingLimitReached, in_dollars
from citewell.storage.clock import MinuteClock
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import provider_calls, spending, usage

WINDOW_SECONDS = 60.1
"""A minute plus the drift between two clocks, rounded up: clocks are slewed by at most 500 parts per million."""
MAX_CALL_SECONDS = 120.0
"""The maximum time from a call's admission to its answer, after which the caller gives up."""
_LOCK = sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))")


class PerMinute(Protocol):
    """Limits on calls and tokens within any sixty seconds; 0 means no limit."""

    @property
    def requests(self) -> int:
        """Calls."""
        ...

    @property
    def tokens(self) -> int:
        """Tokens."""
        ...


class Clock(Protocol):
    """A clock shared by all processes on a database."""

    async def now(self, connection: AsyncConnection) -> float:
        """Seconds."""
        ...


class ProviderCallRepository:
    """Counts calls and dollars.

    One transaction admits each call, so processes that share a limit never exceed it together.

    The provider receives a call at an unknown time between admission and answer, so the call counts from its admission
    until a minute after its answer. A call whose answer is never reported counts as answered after `MAX_CALL_SECONDS`.
    """

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or MinuteClock(database)

    async def admit(
        self, provider: str, limits: PerMinute, tokens: int, *, is_query: bool = True
    ) -> tuple[float, int | None]:
        """Admits a call with so many tokens. Returns 0 and its number, or seconds to wait before retrying, and None.

        Calls that are no queries use at most three quarters of the limits, so that files being indexed leave room for
        questions. A call with more tokens than the limit is admitted when no other call counts.
        """
        table = provider_calls
        mine = table.c.provider == provider
        async with self._database.write() as connection:
            await self._take_turn(connection, provider)
            now = await self._clock.now(connection)
            latest = now + MAX_CALL_SECONDS
            await connection.execute(sa.delete(table).where(mine, table.c.at <= now - WINDOW_SECONDS))
            # Recorded by another machine, or before this one rebooted.
            await connection.execute(sa.update(table).where(mine, table.c.at > latest).values(at=now))
            bounds = [(mine, limits.requests, limits.tokens)]
            if not is_query:
                others = sa.and_(mine, sa.not_(table.c.is_query))
                bounds.append((others, _without_share(limits.requests), _without_share(limits.tokens)))
            for counted, most_calls, most_tokens in bounds:
                free_at = await _free_at(connection, counted, most_calls, most_tokens, tokens)
                if free_at is not None:
                    # A call in progress may be answered at any moment.
                    return max(0.001, min(free_at, now) + WINDOW_SECONDS - now), None
            values = {"provider": provider, "at": latest, "tokens": tokens, "is_query": is_query}
            return 0.0, await connection.scalar(sa.insert(table).values(**values).returning(table.c.id))

    async def answered(self, call: int) -> None:
        """Records that a call has its answer: the provider counts it from this moment at the latest."""
        table = provider_calls
        async with self._database.write() as connection:
            now = await self._clock.now(connection)
            await connection.execute(sa.update(table).where(table.c.id == call, table.c.at > now).values(at=now))

    async def reserve(self, dollars: float, limit: float) -> None:
        """Adds an amount to this month's spending.

        Raises `SpendingLimitReached`, and adds nothing, if it exceeds the limit.
        """
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
            f"{in_dollars(spent or 0.0)} of {in_dollars(limit)} US dollars are spent this month, and the next call would exceed the limit. "
            "Raise CITEWELL_MAX_SPEND; waiting work then continues."
        )

    async def correct(self, dollars: float) -> None:
        """Corrects this month's spending by an amount; negative for reserved but unspent dollars."""
        async with self._database.write() as connection:
            month = await self._month(connection)
            change = sa.update(spending).where(spending.c.month == month)
            await connection.execute(change.values(dollars=spending.c.dollars + dollars))

    async def spent(self) -> float:
        """Returns this month's US dollars, including reservations."""
        async with self._database.write() as connection:
            month = await self._month(connection)
            return float(await connection.scalar(sa.select(spending.c.dollars).where(spending.c.month == month)) or 0.0)

    async def _take_turn(self, connection: AsyncConnection, provider: str) -> None:
        """Waits until no other transaction is admitting calls to this provider; SQLite has one writer anyway."""
        if not self._database.is_sqlite:
            await connection.execute(_LOCK, {"name": f"citewell/{provider}"})

    async def _month(self, connection: AsyncConnection) -> str:
        """Returns this month (UTC), after creating its row, if missing, from the ledger's total."""
        today = time.gmtime()
        month = time.strftime("%Y-%m", today)
        if await connection.scalar(sa.select(spending.c.month).where(spending.c.month == month)) is None:
            since = time.time() - (
                (today.tm_mday - 1) * 86_400 + today.tm_hour * 3_600 + today.tm_min * 60 + today.tm_sec
            )
            spent = sa.select(sa.func.sum(usage.c.cost)).where(
                usage.c.created_at >= since, usage.c.kind != "context_stuffing"
            )
            before = await connection.scalar(spent)
            await connection.execute(insert_new(connection, spending), [{"month": month, "dollars": before or 0.0}])
        return month


async def _free_at(
    connection: AsyncConnection, counted: sa.ColumnElement[bool], most_calls: int, most_tokens: int, tokens: int
) -> float | None:
    """Returns when the call was answered after which another of so many tokens fits; None if it fits now."""
    table = provider_calls
    totals = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(table.c.tokens), 0)).where(counted)
    calls, used = (await connection.execute(totals)).one()

    def exceeds() -> bool:
        return bool((most_calls and calls >= most_calls) or (most_tokens and used + tokens > most_tokens))

    if not calls or not exceeds():
        return None
    for at, spent in await connection.execute(
        sa.select(table.c.at, table.c.tokens).where(counted).order_by(table.c.at)
    ):
        calls, used = calls - 1, used - spent
        if not calls or not exceeds():
            return at
    return None


def _without_share(limit: int) -> int:
    """Returns what queries leave of a limit per minute; 0 means no limit."""
    return limit - max(1, limit // 4) if limit > 1 else limit
