"""Triggers, and their calls by idempotency key: a repeated call returns the first answer and is not executed again."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Conflict, NotFound
from citewell.storage.accounts.owners import lock_owner
from citewell.storage.accounts.tables import may_act
from citewell.storage.channels.webhook_tables import trigger_calls, triggers
from citewell.storage.clock import LeaseClock
from citewell.storage.conversations.quotations import empty, gone, is_hidden, without_quotations
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import citations
from citewell.types import JsonObject, Trigger, TriggerKind

MAX_TRIGGERS = 50
"""Of one owner."""
_LEASE_SECONDS = 300.0
_KEPT_SECONDS = 2 * 86_400.0
_PUBLIC = [c for c in triggers.c if c.name not in ("secret_hash", "made_with")]
_WORKS = may_act(triggers.c.owner_id, triggers.c.made_with)


@dataclass(frozen=True, slots=True)
class TriggerCall:
    """A started call: its lease, or the stored answer of an identical earlier call."""

    lease: str
    answer: JsonObject | None = None


class TriggerRepository:
    """Triggers: URLs that other programs call. Methods that serve a user are scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._clock = LeaseClock(database)

    async def create(
        self,
        owner_id: str,
        kind: TriggerKind,
        name: str,
        project: str | None,
        secret_hash: str,
        made_with: str | None = None,
    ) -> Trigger:
        """Creates a trigger, which ends with the token `made_with` if given.

        Raises `Conflict` if the owner already has the maximum number.
        """
        trigger = Trigger(
            id=str(uuid.uuid4()), owner_id=owner_id, kind=kind, name=name, project=project, created_at=time.time()
        )
        async with self._database.write() as connection:
            await lock_owner(connection, owner_id)
            ended = sa.delete(triggers).where(triggers.c.owner_id == owner_id, sa.not_(_WORKS))
            await connection.execute(ended)
            mine = sa.select(sa.func.count()).select_from(triggers).where(triggers.c.owner_id == owner_id)
            if (await connection.scalar(mine) or 0) >= MAX_TRIGGERS:
                raise Conflict(f"There are already {MAX_TRIGGERS} triggers. Delete an unused one.")
            await connection.execute(
                sa.insert(triggers).values(
                    id=trigger.id,
                    owner_id=owner_id,
                    kind=kind,
                    name=name,
                    project=project,
                    secret_hash=secret_hash,
                    created_at=trigger.created_at,
                    made_with=made_with,
                )
            )
        return trigger

    async def all(self, owner_id: str) -> list[Trigger]:
        """Returns the owner's callable triggers, oldest first."""
        query = sa.select(*_PUBLIC).where(triggers.c.owner_id == owner_id, _WORKS)
        rows = await self._database.rows(query.order_by(triggers.c.created_at, triggers.c.id))
        return [_trigger(row) for row in rows]

    async def delete(self, owner_id: str, trigger_id: str) -> None:
        """Deletes a trigger and its secret. Raises `NotFound` if it is not the owner's."""
        mine = sa.and_(triggers.c.id == trigger_id, triggers.c.owner_id == owner_id)
        async with self._database.write() as connection:
            if not (await connection.execute(sa.delete(triggers).where(mine))).rowcount:
                raise NotFound("The trigger does not exist, or you have no access to it.")

    async def find(self, trigger_id: str) -> tuple[Trigger, str] | None:
        """Returns a trigger and the hash of its secret.

        None while its owner is suspended, and once the token that created it has ended.
        """
        query = sa.select(*_PUBLIC, triggers.c.secret_hash).where(triggers.c.id == trigger_id, _WORKS)
        rows = await self._database.rows(query)
        if not rows:
            return None
        values = dict(rows[0])
        return _trigger({name: value for name, value in values.items() if name != "secret_hash"}), values["secret_hash"]

    async def begin(self, trigger_id: str, key: str, body_hash: str) -> TriggerCall:
        """Starts a call, or returns the answer of an identical earlier one.

        Raises `Conflict` while that one is in progress, and for a key used before with a different body.
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
                raise Conflict("This Idempotency-Key was used with a different body. Give each call its own key.")
            if row["answer"] is not None:
                return TriggerCall(row["lease"], await _readable(connection, mine, row["answer"]))
            if row["lease_until"] > now:
                raise Conflict("The same call is in progress. Try again when it has finished.")
            again = sa.update(trigger_calls).where(mine)
            await connection.execute(again.values(lease=lease, lease_until=now + _LEASE_SECONDS))
            return TriggerCall(lease)

    async def finish(self, lease: str, answer: JsonObject) -> None:
        """Stores the answer of a call, for repetitions."""
        message_id = answer.get("message_id")
        mine = sa.update(trigger_calls).where(trigger_calls.c.lease == lease)
        cited = sa.select(citations.c.resource_id).distinct().where(citations.c.message_id == message_id)
        async with self._database.write() as connection:
            await connection.execute(mine.values(answer=answer, message_id=message_id))
            # A cited file may have been deleted since the answer was written.
            if lost := await connection.run_sync(gone, list((await connection.execute(cited)).scalars())):
                await connection.run_sync(empty, lost)

    async def abandon(self, lease: str | None = None) -> None:
        """Deletes a failed call, so that it can be repeated; None: all that an earlier process left unfinished."""
        mine = trigger_calls.c.answer.is_(None) if lease is None else trigger_calls.c.lease == lease
        async with self._database.write() as connection:
            await connection.execute(sa.delete(trigger_calls).where(mine))


async def _readable(connection: AsyncConnection, mine: sa.ColumnElement[bool], answer: JsonObject) -> JsonObject:
    """Returns a stored answer, without quotations that the trigger's owner may no longer read."""
    hidden = is_hidden(trigger_calls, triggers.c.owner_id)
    assert hidden is not None
    of_mine = sa.select(hidden).select_from(trigger_calls).join(triggers, triggers.c.id == trigger_calls.c.trigger_id)
    return without_quotations(answer) if await connection.scalar(of_mine.where(mine)) else answer


def _trigger(row: Mapping[Any, Any]) -> Trigger:
    values: dict[str, Any] = dict(row)
    values["kind"] = TriggerKind(values["kind"])
    return Trigger(**values)
