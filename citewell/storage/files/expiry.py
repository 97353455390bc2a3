"""Files with a lifetime: when each expires, whether that was announced, and the receipts of those that were deleted."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from datetime import UTC, datetime

import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.accounts.tables import is_suspended
from citewell.storage.channels.outbox import announce
from citewell.storage.channels.telegram_tables import telegram_files
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database
from citewell.storage.tables import expired_files, resources
from citewell.types import EventType, ExpiredFile, JsonObject, OutgoingEvent

NOTICE_SECONDS = 24 * 3_600.0
NOTICE_SHARE = 0.25
"""The part of a lifetime left when the deletion is announced; at most a day."""
_BOT_SECONDS = 24 * 3_600.0
"""How long a file sent to a Telegram bot waits for the bot to announce and delete it, before any server does."""
_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiringFile:
    """A file whose deletion is due, or is to be announced (`notice_at` is not None)."""

    id: str
    owner_id: str
    version: int
    filename: str
    identifier: str | None
    record_id: str | None
    expires_at: float
    notice_at: float | None


def times_of(expires_at: float | None, now: float) -> dict[str, float | None]:
    """Returns the columns of a file whose lifetime begins now: its end, and when to announce it."""
    if expires_at is None:
        return {"expires_at": None, "notice_at": None}
    ahead = min(NOTICE_SECONDS, NOTICE_SHARE * max(0.0, expires_at - now))
    return {"expires_at": expires_at, "notice_at": expires_at - ahead}


def keep_receipt(connection: sa.Connection, owner_id: str, resource_id: str, receipt: JsonObject) -> None:
    """Stores the receipt of an expired file in the transaction that deletes it."""
    row = {"resource_id": resource_id, "owner_id": owner_id, "deleted_at": time.time(), "receipt": dict(receipt)}
    connection.execute(sa.insert(expired_files), row)


class ExpiryRepository:
    """Lifetimes of files. A file is deleted only after its deletion was announced."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set(self, owner_id: str, resource_id: str, expires_at: float | None) -> None:
        """Sets when a file expires; None for never. Raises `NotFound` if it is not the owner's."""
        mine = (resources.c.id == resource_id, resources.c.owner_id == owner_id)
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.update(resources).where(*mine).values(**times_of(expires_at, time.time()))
            )
        if not done.rowcount:
            raise NotFound("The resource does not exist, or you have no access to it.")

    async def prolong(self, owner_id: str, resource_id: str, expires_at: float | None) -> None:
        """Keeps a file that was uploaded again at least until then (None: forever), and the files it is in."""
        one: str | None = resource_id
        async with self._database.write() as connection:
            while one is not None:
                mine = (resources.c.id == one, resources.c.owner_id == owner_id)
                longer = sa.true() if expires_at is None else resources.c.expires_at < expires_at
                await connection.execute(
                    sa.update(resources)
                    .where(*mine, resources.c.expires_at.is_not(None), longer)
                    .values(**times_of(expires_at, time.time()))
                )
                one = await connection.scalar(sa.select(resources.c.parent_id).where(*mine))

    async def due(self, now: float, bot_id: int | None = None) -> list[ExpiringFile]:
        """Returns files to announce or delete now, earliest first: those sent to this Telegram bot, or all others.

        Files of suspended owners wait, because the notice could not be sent.
        """
        columns = [resources.c[one.name] for one in fields(ExpiringFile)]
        sent = sa.select(telegram_files.c.resource_id)
        if bot_id is not None:
            whose = resources.c.id.in_(sent.where(telegram_files.c.bot_id == bot_id))
        else:
            whose = sa.or_(resources.c.id.not_in(sent), _is_due(now - _BOT_SECONDS))
        query = (
            sa.select(*columns)
            .where(resources.c.expires_at < now + NOTICE_SECONDS, _is_due(now), whose)
            .where(sa.not_(is_suspended(resources.c.owner_id)))
            .order_by(resources.c.expires_at)
            .limit(_BATCH)
        )
        return [ExpiringFile(**row) for row in await self._database.rows(query)]

    async def announce(self, file: ExpiringFile, now: float) -> float | None:
        """Announces a file's deletion to the owner's webhooks, and returns its time; None if that was done already.

        No file disappears without notice: a late announcement postpones the deletion.
        """
        assert file.notice_at is not None
        end = max(file.expires_at, now + file.expires_at - file.notice_at)
        one = (resources.c.id == file.id, resources.c.notice_at == file.notice_at)
        names = ("version", "filename", "identifier", "record_id")
        named: JsonObject = {name: value for name in names if (value := getattr(file, name)) is not None}
        event = OutgoingEvent(
            type=EventType.RESOURCE_EXPIRING,
            key=f"{file.id}/{end}",
            data={"resource_id": file.id, **named, "expires_at": _shown(end)},
            about=file.id,
        )
        async with self._database.write() as connection:
            done = await connection.execute(sa.update(resources).where(*one).values(expires_at=end, notice_at=None))
            if not done.rowcount:
                return None
            await connection.run_sync(announce, file.owner_id, [event])
        return end

    async def complete(self, resource_id: str, vectors_left: int) -> None:
        """Adds to a receipt how many vectors were left in a store that failed."""
        one = expired_files.c.resource_id == resource_id
        async with self._database.write() as connection:
            receipt = await connection.scalar(sa.select(expired_files.c.receipt).where(one))
            if receipt is not None:
                done = {**receipt, "vectors_left": vectors_left}
                await connection.execute(sa.update(expired_files).where(one).values(receipt=done))

    async def receipts(self, owner_id: str, limit: int, cursor: str | None) -> tuple[list[ExpiredFile], str | None]:
        """Returns a page of the owner's expired files, newest first, and the next cursor."""
        table = expired_files.c
        query = sa.select(table.resource_id, table.deleted_at, table.receipt).where(table.owner_id == owner_id)
        if cursor:
            at, last = decode_cursor(cursor, float, str)
            query = query.where(sa.tuple_(table.deleted_at, table.resource_id) < sa.tuple_(at, last))
        query = query.order_by(table.deleted_at.desc(), table.resource_id.desc()).limit(limit + 1)
        found = [ExpiredFile(**row) for row in await self._database.rows(query)]
        shown = found[:limit]
        return shown, encode_cursor(shown[-1].deleted_at, shown[-1].resource_id) if len(found) > limit else None

    async def prune(self, before: float) -> None:
        """Deletes receipts older than that."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(expired_files).where(expired_files.c.deleted_at < before))


def _is_due(now: float) -> sa.ColumnElement[bool]:
    announced = sa.and_(resources.c.notice_at.is_(None), resources.c.expires_at <= now)
    return sa.or_(resources.c.notice_at <= now, announced)


def _shown(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
