"""The append-only audit log. Entries never change; they are deleted only by age or when their owner is erased."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import InvalidCursor
from citewell.storage.accounts.audit_tables import audit_begun, audit_log, audit_removals
from citewell.storage.accounts.tables import people, service_accounts
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import owners
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditFilter, AuditOutcome

_MAX_DIGITS = 18
_READ_ONLY = ("number", "actor_name")
# A change on another server that began this long ago and has not ended was interrupted: that server has stopped.
_ABANDONED_SECONDS = 86_400.0
_BEGIN = sa.insert(audit_begun)
_THERE = sa.select(owners.c.id).where(owners.c.id.in_(sa.bindparam("ids", expanding=True)))
_END = sa.delete(audit_begun).where(audit_begun.c.request_id.in_(sa.bindparam("ids", expanding=True)))


class AuditRepository:
    """Adds to the log and reads it.

    The start of a change is recorded first, so that an interrupted one leaves a trace.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, entry: AuditEntry) -> None:
        """Records that a change is about to begin."""
        begun = {"request_id": entry.request_id, "owner_id": entry.owner_id, "at": entry.at, "entry": asdict(entry)}
        await self._database.change(lambda connection: connection.execute(_BEGIN, begun).rowcount)

    async def add(self, entries: Sequence[AuditEntry]) -> None:
        """Adds entries, all or none; skips existing ones. Owners that no longer exist become null."""
        await self._database.change(partial(_add, entries))

    async def finish_interrupted(self) -> int:
        """Logs changes that a stopped server left unfinished as interrupted; returns their number."""
        latest = time.time() - (0.0 if self._database.is_sqlite else _ABANDONED_SECONDS)
        query = sa.select(audit_begun.c.entry).where(audit_begun.c.at <= latest).order_by(audit_begun.c.at)

        def finish(connection: sa.Connection) -> int:
            found = [_from_json(row.entry) for row in connection.execute(query)]
            _add([replace(entry, outcome=AuditOutcome.INTERRUPTED) for entry in found], connection)
            return len(found)

        return await self._database.change(finish)

    async def page(
        self, owner_id: str | None, wanted: AuditFilter, limit: int, cursor: str | None = None
    ) -> tuple[list[AuditEntry], str | None]:
        """Returns a page of an owner's log (None: of all logs), newest first, and the next cursor."""
        query = _query(owner_id, wanted).order_by(audit_log.c.number.desc()).limit(limit + 1)
        if cursor:
            query = query.where(audit_log.c.number < _number(cursor))
        rows = await self._database.rows(query)
        found = [_entry(row) for row in rows[:limit]]
        return found, encode_cursor(str(found[-1].number)) if len(rows) > limit else None

    async def prune(self, before: float) -> int:
        """Deletes entries older than a time in seconds since 1970; returns their number."""
        async with self._database.write() as connection, removing(connection, before=before):
            return (await connection.execute(sa.delete(audit_log).where(audit_log.c.at < before))).rowcount


@asynccontextmanager
async def removing(
    connection: AsyncConnection, *, before: float | None = None, owner_id: str | None = None
) -> AsyncGenerator[None]:
    """Allows this transaction to delete entries before a time, or of an owner, within the block."""
    removal = str(uuid.uuid4())
    await connection.execute(sa.insert(audit_removals).values(id=removal, before=before, subject=owner_id))
    yield
    await connection.execute(sa.delete(audit_removals).where(audit_removals.c.id == removal))


def _add(entries: Sequence[AuditEntry], connection: sa.Connection) -> None:
    if not entries:
        return
    # Runs even for entries without an owner, so that timing does not distinguish them.
    named = {entry.owner_id or "" for entry in entries}
    there = set(connection.scalars(_THERE, {"ids": list(named)}))
    rows: list[dict[str, Any]] = []
    for entry in entries:
        row = {name: value for name, value in asdict(entry).items() if name not in _READ_ONLY}
        rows.append(row | {"owner_id": entry.owner_id if entry.owner_id in there else None})
    connection.execute(insert_new(connection, audit_log), rows)
    connection.execute(_END, {"ids": [entry.request_id for entry in entries]})


def _query(owner_id: str | None, wanted: AuditFilter) -> sa.Select[*tuple[Any, ...]]:
    table = audit_log
    name = sa.func.coalesce(people.c.name, service_accounts.c.name)
    named = sa.select(*table.c, name.label("actor_name")).outerjoin(people, people.c.owner_id == table.c.actor_id)
    query = named.outerjoin(service_accounts, service_accounts.c.acts_as == table.c.actor_id)
    if owner_id is not None:
        query = query.where(table.c.owner_id == owner_id)
    for column in (table.c.action, table.c.outcome, table.c.actor_id, table.c.subject):
        value = getattr(wanted, column.name)
        if value is not None:
            query = query.where(column == str(value))
    if wanted.since is not None:
        query = query.where(table.c.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(table.c.at < wanted.until)
    return query


def _number(cursor: str) -> int:
    """Parses the last number of a page. The cursor holds it as text, because it may exceed 32 bits."""
    (last,) = decode_cursor(cursor, str)
    if not str(last).isdecimal() or len(str(last)) > _MAX_DIGITS:
        raise InvalidCursor
    return int(last)


def _entry(row: sa.RowMapping) -> AuditEntry:
    return _from_json(dict(row))


def _from_json(row: dict[str, Any]) -> AuditEntry:
    kinds: dict[str, Any] = {
        "actor": AuditActor(row["actor"]),
        "action": AuditAction(row["action"]),
        "outcome": AuditOutcome(row["outcome"]),
    }
    return AuditEntry(**row | kinds)
