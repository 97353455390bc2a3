"""The usage ledger."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.tables import usage
from citewell.types import JsonValue, Usage

_SETTLED_SECONDS = 10.0
_DAY = sa.cast(sa.func.floor(usage.c.created_at / 86_400), sa.BigInteger).label("day")


class UsageRepository:
    """Writes entries and sums them up; scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        owner_id: str,
        spent: Sequence[Usage],
        thread_id: str | None = None,
        message_id: str | None = None,
        *,
        at: float | None = None,
    ) -> None:
        """Records an owner's usage, now or at a time in seconds since 1970."""
        if not spent:
            return
        common = {
            "owner_id": owner_id,
            "thread_id": thread_id,
            "message_id": message_id,
            "created_at": time.time() if at is None else at,
        }
        rows = [asdict(one) | {"cost": one.cost or 0.0} | common for one in spent]
        async with self._database.write() as connection:
            await connection.execute(sa.insert(usage), rows)

    async def after(self, last: int) -> tuple[int, list[Usage]]:
        """Returns the number of the newest entry of all owners, and the sums of those after number `last` by kind and model.

        Entries of the last seconds are left to the next call: on Postgres, one with a lower number may be committed later.
        """
        names = (usage.c.kind, usage.c.provider, usage.c.model)
        sums = [sa.func.sum(usage.c[name]).label(name) for name in ("input_tokens", "output_tokens", "units", "cost")]
        new = sa.and_(usage.c.id > last, usage.c.created_at < time.time() - _SETTLED_SECONDS)
        query = sa.select(sa.func.max(usage.c.id).label("newest"), *names, *sums).where(new).group_by(*names)
        rows = [dict(row) for row in await self._database.rows(query)]
        newest = max([last, *(row.pop("newest") for row in rows)])
        return newest, [Usage(**row) for row in rows]

    async def totals(
        self,
        owner_id: str,
        since: float = 0.0,
        thread_id: str | None = None,
        message_id: str | None = None,
        by: Literal["day", "thread", "message"] = "day",
    ) -> list[dict[str, JsonValue]]:
        """Returns sums per UTC day (or thread, or message), kind, provider and model, newest first."""
        parts = {"day": (_DAY,), "thread": (usage.c.thread_id,), "message": (usage.c.thread_id, usage.c.message_id)}[by]
        sums = [sa.func.sum(usage.c[n]).label(n) for n in ("input_tokens", "output_tokens", "units", "cost")]
        query = (
            sa.select(*parts, usage.c.kind, usage.c.provider, usage.c.model, *sums)
            .where(usage.c.owner_id == owner_id, usage.c.created_at >= since)
            .group_by(*parts, usage.c.kind, usage.c.provider, usage.c.model)
            .order_by(sa.func.max(usage.c.created_at).desc() if by != "day" else _DAY.desc())
            .order_by(usage.c.kind, usage.c.model)
        )
        if thread_id:
            query = query.where(usage.c.thread_id == thread_id)
        if message_id:
            query = query.where(usage.c.message_id == message_id)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [_row(dict(row)) for row in rows]


def _row(row: dict[str, Any]) -> dict[str, JsonValue]:
    if "day" in row:
        row["day"] = time.strftime("%Y-%m-%d", time.gmtime(row["day"] * 86_400))
    return row
