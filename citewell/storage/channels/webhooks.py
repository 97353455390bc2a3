"""Webhooks and their pending deliveries, leased one at a time per webhook so that a slow receiver delays no other."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Conflict, NotFound
from citewell.storage.accounts.owners import lock_owner
from citewell.storage.accounts.tables import may_act
from citewell.storage.channels.outbox import announce, enqueue
from citewell.storage.channels.webhook_tables import webhook_deliveries, webhooks
from citewell.storage.clock import LeaseClock
from citewell.storage.conversations.quotations import is_hidden, without_words
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database
from citewell.types import Delivery, DeliveryState, DueDelivery, EventType, OutgoingEvent, Webhook

MAX_WEBHOOKS = 20
"""Maximum per owner: every event is written once per subscribed webhook."""
_LEASE_SECONDS = 60.0
_DELIVERED_SECONDS = 3 * 86_400.0
_DEAD_SECONDS = 30 * 86_400.0
_ENDED = "The token that created this webhook is no longer valid. Enable the webhook again with another token."
_WORKS = may_act(webhooks.c.owner_id, webhooks.c.made_with)
_PUBLIC = [
    *(c for c in webhooks.c if c.name not in ("secret", "turn", "made_with", "enabled", "problem")),
    sa.and_(webhooks.c.enabled, _WORKS).label("enabled"),
    sa.case((_WORKS, webhooks.c.problem), else_=_ENDED).label("problem"),
]
_SHOWN = [
    c for c in webhook_deliveries.c if c.name in ("id", "webhook_id", "type", "state", "attempts", "created_at", "due")
] + [webhook_deliveries.c.status, webhook_deliveries.c.problem]


class WebhookRepository:
    """Registered webhooks and their deliveries; methods that serve a user are scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        owner_id: str,
        url: str,
        events: Sequence[EventType],
        description: str,
        secret: str,
        made_with: str | None = None,
    ) -> Webhook:
        """Creates a webhook, which ends with the token `made_with` if given.

        Raises `Conflict` if the owner already has the maximum number.
        """
        row: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "owner_id": owner_id,
            "url": url,
            "events": list(events),
            "description": description,
            "enabled": True,
            "problem": "",
            "created_at": time.time(),
        }
        async with self._database.write() as connection:
            await lock_owner(connection, owner_id)
            mine = sa.select(sa.func.count()).select_from(webhooks).where(webhooks.c.owner_id == owner_id)
            if (await connection.scalar(mine) or 0) >= MAX_WEBHOOKS:
                raise Conflict(f"There are already {MAX_WEBHOOKS} webhooks. Delete an unused one.")
            await connection.execute(sa.insert(webhooks).values(**row, secret=secret, made_with=made_with))
        return _webhook(row)

    async def all(self, owner_id: str) -> list[Webhook]:
        """Returns the owner's webhooks, oldest first."""
        query = sa.select(*_PUBLIC).where(webhooks.c.owner_id == owner_id)
        rows = await self._database.rows(query.order_by(webhooks.c.created_at, webhooks.c.id))
        return [_webhook(row) for row in rows]

    async def get(self, owner_id: str, webhook_id: str) -> Webhook:
        """Returns one webhook. Raises `NotFound` if it is not the owner's."""
        rows = await self._database.rows(sa.select(*_PUBLIC).where(_own(owner_id, webhook_id)))
        if not rows:
            raise NotFound("The webhook does not exist, or you have no access to it.")
        return _webhook(rows[0])

    async def change(self, owner_id: str, webhook_id: str, **values: Any) -> Webhook:
        """Changes `url`, `events`, `description`, `enabled` or `made_with`.

        Raises `NotFound` if it is not the owner's.
        """
        if values.get("enabled"):
            values["problem"] = ""
        async with self._database.write() as connection:
            if values:
                await connection.execute(sa.update(webhooks).where(_own(owner_id, webhook_id)).values(**values))
        return await self.get(owner_id, webhook_id)

    async def delete(self, owner_id: str, webhook_id: str) -> None:
        """Deletes a webhook with its deliveries."""
        async with self._database.write() as connection:
            done = await connection.execute(sa.delete(webhooks).where(_own(owner_id, webhook_id)))
            if not done.rowcount:
                raise NotFound("The webhook does not exist, or you have no access to it.")

    async def tell(self, owner_id: str, event: OutgoingEvent) -> None:
        """Queues an event that has no transaction of its own for the owner's subscribed webhooks."""
        async with self._database.write() as connection:
            await connection.run_sync(announce, owner_id, [event])

    async def tell_one(self, owner_id: str, webhook_id: str, event: OutgoingEvent) -> Delivery:
        """Queues an event for one webhook, whatever its subscriptions."""
        async with self._database.write() as connection:
            if await connection.scalar(sa.select(webhooks.c.id).where(_own(owner_id, webhook_id))) is None:
                raise NotFound("The webhook does not exist, or you have no access to it.")
            (delivery_id,) = await connection.run_sync(enqueue, owner_id, webhook_id, [event])
        return await self.delivery(owner_id, delivery_id)

    async def delivery(self, owner_id: str, delivery_id: str) -> Delivery:
        """Returns one delivery. Raises `NotFound` if it is not the owner's."""
        query = sa.select(*_SHOWN).where(
            webhook_deliveries.c.id == delivery_id, webhook_deliveries.c.owner_id == owner_id
        )
        rows = await self._database.rows(query)
        if not rows:
            raise NotFound("The delivery does not exist, or you have no access to it.")
        return _delivery(rows[0])

    async def deliveries(
        self, owner_id: str, state: DeliveryState | None, webhook_id: str | None, limit: int, cursor: str | None
    ) -> tuple[list[Delivery], str | None]:
        """Returns a page of deliveries, newest first, and the next cursor."""
        table = webhook_deliveries.c
        query = sa.select(*_SHOWN).where(table.owner_id == owner_id)
        if state is not None:
            query = query.where(table.state == state)
        if webhook_id is not None:
            query = query.where(table.webhook_id == webhook_id)
        if cursor:
            created, last = decode_cursor(cursor, float, str)
            query = query.where(sa.tuple_(table.created_at, table.id) < sa.tuple_(created, last))
        rows = await self._database.rows(query.order_by(table.created_at.desc(), table.id.desc()).limit(limit + 1))
        found = [_delivery(row) for row in rows[:limit]]
        more = len(rows) > limit
        return found, encode_cursor(found[-1].created_at, found[-1].id) if more else None

    async def replay(self, owner_id: str, *, delivery_id: str | None = None, webhook_id: str | None = None) -> int:
        """Resends a webhook's abandoned deliveries, or one finished delivery, under the same ids.

        Returns their number.
        """
        now, table = time.time(), webhook_deliveries.c
        which = [table.owner_id == owner_id]
        if delivery_id is not None:
            which += [table.id == delivery_id, table.state != DeliveryState.PENDING]
        if webhook_id is not None:
            which += [table.webhook_id == webhook_id, table.state == DeliveryState.DEAD]
        again = {"state": DeliveryState.PENDING, "attempts": 0, "due": now, "started_at": now, "problem": ""}
        async with self._database.write() as connection:
            done = await connection.execute(sa.update(webhook_deliveries).where(*which).values(**again, status=None))
            return done.rowcount


class DeliveryRepository:
    """The deliveries of all owners; for the sending process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._clock = LeaseClock(database)

    async def claim(self, worker: str) -> DueDelivery | None:
        """Leases the next due delivery.

        It is the first due one of the webhook that has waited longest and has no other delivery in progress.
        """
        table, now = webhook_deliveries.c, time.time()
        due = sa.and_(table.state == DeliveryState.PENDING, table.due <= now)
        if not await self._database.rows(sa.select(table.id).where(due).limit(1)):
            return None
        # A read first: deliveries that wait for a suspended owner must not occupy the writer.
        if not await self._database.rows(_waiting(due).limit(1)):
            return None
        async with self._database.write() as connection:
            clock = await self._clock.now(connection)
            found = await _next_due(connection, due, clock)
            if found is None:
                return None
            lease = str(uuid.uuid4())
            held = {"lease": lease, "lease_worker": worker, "lease_until": clock + _LEASE_SECONDS}
            free = sa.or_(table.lease_until.is_(None), table.lease_until < clock)
            taken = sa.update(webhook_deliveries).where(table.id == found["id"], due, free)
            if not (await connection.execute(taken.values(**held))).rowcount:
                return None
            turn = sa.update(webhooks).where(webhooks.c.id == found["webhook_id"])
            await connection.execute(turn.values(turn=clock))
        return DueDelivery(**found, lease=lease)

    async def finish(
        self, delivery: DueDelivery, state: DeliveryState, *, due: float, status: int | None, problem: str
    ) -> None:
        """Records the outcome of a delivery, unless another process has leased it in the meantime."""
        values = {"state": state, "due": due, "status": status, "problem": problem, "attempts": delivery.attempts + 1}
        mine = sa.and_(webhook_deliveries.c.id == delivery.id, webhook_deliveries.c.lease == delivery.lease)
        released: dict[str, Any] = {"lease": None, "lease_worker": None, "lease_until": None}
        async with self._database.write() as connection:
            await connection.execute(sa.update(webhook_deliveries).where(mine).values(**values, **released))

    async def disable(self, webhook_id: str, problem: str) -> None:
        """Disables a webhook whose server reports that it is gone, and abandons its pending deliveries."""
        table = webhook_deliveries.c
        waiting = sa.and_(table.webhook_id == webhook_id, table.state == DeliveryState.PENDING)
        async with self._database.write() as connection:
            changed = sa.update(webhooks).where(webhooks.c.id == webhook_id)
            await connection.execute(changed.values(enabled=False, problem=problem))
            given_up = sa.update(webhook_deliveries).where(waiting)
            await connection.execute(given_up.values(state=DeliveryState.DEAD, problem=problem))

    async def release(self, worker: str | None = None) -> None:
        """Ends the leases of a process that is gone (None: of all)."""
        held = webhook_deliveries.c.lease.is_not(None)
        mine = held if worker is None else webhook_deliveries.c.lease_worker == worker
        async with self._database.write() as connection:
            released: dict[str, Any] = {"lease": None, "lease_worker": None, "lease_until": None}
            await connection.execute(sa.update(webhook_deliveries).where(mine).values(**released))

    async def forget_old(self) -> int:
        """Deletes old deliveries: sent days ago, abandoned a month ago, or held for as long; returns their number."""
        table, now = webhook_deliveries.c, time.time()
        old = sa.or_(
            sa.and_(table.state == DeliveryState.DELIVERED, table.due < now - _DELIVERED_SECONDS),
            sa.and_(table.state == DeliveryState.DEAD, table.due < now - _DEAD_SECONDS),
            # Retries end after a day, so these are held: the owner is suspended, or the webhook's token has ended.
            sa.and_(table.state == DeliveryState.PENDING, table.started_at < now - _DEAD_SECONDS),
        )
        async with self._database.write() as connection:
            return (await connection.execute(sa.delete(webhook_deliveries).where(old))).rowcount


async def _next_due(connection: AsyncConnection, due: sa.ColumnElement[bool], clock: float) -> dict[str, Any] | None:
    table = webhook_deliveries.c
    busy = sa.exists().where(table.webhook_id == webhooks.c.id, table.lease_until > clock)
    turn = _waiting(due).where(sa.not_(busy)).order_by(webhooks.c.turn, webhooks.c.id).limit(1)
    webhook_id = await connection.scalar(turn)
    columns = (table.id, table.webhook_id, webhooks.c.url, webhooks.c.secret)
    hidden = is_hidden(webhook_deliveries, table.owner_id)
    assert hidden is not None
    query = (
        sa.select(*columns, table.body, table.attempts, table.started_at, hidden.label("is_hidden"))
        .join(webhooks, webhooks.c.id == table.webhook_id)
        .where(table.webhook_id == webhook_id, due)
        .order_by(table.due, table.created_at, table.id)
        .limit(1)
    )
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        return None
    values = {str(name): value for name, value in row.items()}
    # Checked at every attempt: access may have ended since it was written.
    return without_words("webhook_deliveries", values) if values.pop("is_hidden") else values


def _waiting(due: sa.ColumnElement[bool]) -> sa.Select[str]:
    """Selects webhooks with a due delivery whose owners may act."""
    waits = sa.exists().where(webhook_deliveries.c.webhook_id == webhooks.c.id, due)
    return sa.select(webhooks.c.id).where(waits, may_act(webhooks.c.owner_id, webhooks.c.made_with))


def _own(owner_id: str, webhook_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(webhooks.c.id == webhook_id, webhooks.c.owner_id == owner_id)


def _webhook(row: Mapping[Any, Any]) -> Webhook:
    values: dict[str, Any] = dict(row)
    values["events"] = tuple(EventType(one) for one in values["events"])
    return Webhook(**values)


def _delivery(row: Mapping[Any, Any]) -> Delivery:
    values: dict[str, Any] = dict(row)
    values["type"], values["state"] = EventType(values["type"]), DeliveryState(values["state"])
    return Delivery(**values)
