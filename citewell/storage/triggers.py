"""Triggers by owner, and their calls by key: a call that is repeated gives the answer of the first, and is done once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from citewell.errors import Conflict, NotFound
from citewell.storage.account_tables import is_suspended
from citewell.storage.clock import LeaseClock
from citewell.storage.database import Database, insert_new
from citewell.storage.webhook_tables import trigger_calls, triggers
from citewell.types import JsonObject, Trigger, TriggerKind

MAX_TRIGGERS = 50
"""Of one owner."""
_LEASE_SECONDS = 300.0
_KEPT_SECONDS = 2 * 86_400.0
_PUBLIC = [c for c in triggers.c if c.name != "secret_hash"]


@dataclass(frozen=True, slots=True)
class TriggerCall:
    """A call that was begun: its lease, or the answer that the same call had before."""

    lease: str
    answer: JsonObject | None = None


class TriggerRepository:
    """Addresses that other programs call; methods that serve a user are scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._clock = LeaseClock(database)

    async def create(
        self, owner_id: str, kind: TriggerKind, name: str, project: str | None, secret_hash: str
    ) -> Trigger:
        """A new trigger; `Conflict` when the owner has as many as one may have."""
        trigger = Trigger(
            id=str(uuid.uuid4()), owner_id=owner_id, kind=kind, name=name, project=project, created_at=time.time()
        )
        async with self._database.write() as connection:
            mine = sa.select(sa.func.count()).select_from(triggers).where(triggers.c.owner_id == owner_id)
            if (await connection.scalar(mine) or 0) >= MAX_TRIGGERS:
                raise Conflict(f"There are {MAX_TRIGGERS} triggers already. Delete one that is not used any more.")
            await connection.execute(
                sa.insert(triggers).values(
                    id=trigger.id,
                    owner_id=owner_id,
                    kind=kind,
                    name=name,
                    project=project,
                    secret_hash=secret_hash,
                    created_at=trigger.created_at,
                )
            )
        return trigger

    async def all(self, owner_id: str) -> list[Trigger]:
        """The owner's triggers, oldest first."""
        query = sa.select(*_PUBLIC).where(triggers.c.owner_id == owner_id)
        rows = await self._database.rows(query.order_by(triggers.c.created_at, triggers.c.id))
        return [_trigger(row) for row in rows]

    async def delete(self, owner_id: str, trigger_id: str) -> None:
        """Remove a trigger with its secret; `NotFound` when it is not the owner's."""
        mine = sa.and_(triggers.c.id == trigger_id, triggers.c.owner_id == owner_id)
        async with self._database.write() as connection:
            if not (await connection.execute(sa.delete(triggers).where(mine))).rowcount:
                raise NotFound("There is no such trigger, or it is not yours.")

    async def find(self, trigger_id: str) -> tuple[Trigger, str] | None:
        """The trigger of an address, and the hash of its secret; None while its owner is suspended."""
        usable = sa.not_(is_suspended(triggers.c.owner_id))
        rows = await self._database.rows(sa.select(triggers).where(triggers.c.id == trigger_id, usable))
        if not rows:
            return None
        values = dict(rows[0])
        return _trigger({name: value for name, value in values.items() if name != "secret_hash"}), values["secret_hash"]

    async def begin(self, trigger_id: str, key: str, body_hash: str) -> TriggerCall:
        """Begin a call, or find what the same one was answered.

        `Conflict` while it is under way, and for a key that came with another body before.
        """
        table, lease = trigger_calls.c, str(uuid.uuid4())
        mine = sa.and_(table.trigger_id == trigger_id, table.key == key)
        async with self._database.write() as connection:
            now, at = await self._clock.now(connection), time.time()
            await connection.execute(sa.delete(trigger_calls).where(table.created_at < at - _KEPT_SECONDS))
            new = insert_new(connection, trigger_calls).values(
                trigger_id=trigger_id,
                key=key,
                body_hash=body_hash,
                lease=lease,
                lease_until=now + _LEASE_SECONDS,
                created_at=at,
            )
            if (await connection.execute(new)).rowcount:
                return TriggerCall(lease)
            row = (await connection.execute(sa.select(trigger_calls).where(mine).with_for_update())).mappings().one()
            if row["body_hash"] != body_hash:
                raise Conflict("This Idempotency-Key came with another body before. Give each call a key of its own.")
            if row["answer"] is not None:
                return TriggerCall(row["lease"], row["answer"])
            if row["lease_until"] > now:
                raise Conflict("The same call is under way. Ask again when it has been answered.")
            again = sa.update(trigger_calls).where(mine)
            await connection.execute(again.values(lease=lease, lease_until=now + _LEASE_SECONDS))
            return TriggerCall(lease)

    async def finish(self, lease: str, answer: JsonObject) -> None:
        """Keep the answer of a call for those that repeat it."""
        mine = sa.update(trigger_calls).where(trigger_calls.c.lease == lease)
        async with self._database.write() as connection:
            await connection.execute(mine.values(answer=answer))

    async def abandon(self, lease: str | None = None) -> None:
        """Forget a call that failed, so that it can be repeated; None: all that a process before this one has left."""
        mine = trigger_calls.c.answer.is_(None) if lease is None else trigger_calls.c.lease == lease
        async with self._database.write() as connection:
            await connection.execute(sa.delete(trigger_calls).where(mine))


def _trigger(row: Mapping[Any, Any]) -> Trigger:
    values: dict[str, Any] = dict(row)
    values["kind"] = TriggerKind(values["kind"])
    return Trigger(**values)
