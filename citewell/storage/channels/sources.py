"""Synced sources: the sync cursor and the imported items of each."""

from __future__ import annotations

import time
import uuid
from typing import Any

import sqlalchemy as sa

from citewell.errors import Conflict, NotFound, named
from citewell.storage.channels.outbox import announce
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database, insert_new, upsert
from citewell.storage.tables import resources, source_items, sources
from citewell.types import EventType, JsonObject, OutgoingEvent, SyncItem, SyncSource


class SourceRepository:
    """Sources by name; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure(self, owner_id: str, name: str, kind: str, project_id: str) -> SyncSource:
        """Returns the owner's source of that name, creating it or changing its project if needed.

        Raises `Conflict` if the name belongs to another kind of source.
        """
        async with self._database.write() as connection:
            made = insert_new(connection, sources).values(
                id=str(uuid.uuid4()),
                owner_id=owner_id,
                name=name,
                kind=kind,
                project_id=project_id,
                report={},
                created_at=time.time(),
            )
            await connection.execute(made)
            mine = sa.and_(sources.c.owner_id == owner_id, sources.c.name == name, sources.c.kind == kind)
            await connection.execute(sa.update(sources).where(mine).values(project_id=project_id))
        found = await self.get(owner_id, name)
        if found.kind != kind:
            raise Conflict(
                f"{named(name)} is already the name of another kind of source ({found.kind}). Choose another name."
            )
        return found

    async def get(self, owner_id: str, name: str) -> SyncSource:
        """Returns one source. Raises `NotFound`."""
        rows = await self._database.rows(
            sa.select(sources).where(sources.c.owner_id == owner_id, sources.c.name == name)
        )
        if not rows:
            raise NotFound(f"There is no source called {named(name)}.")
        return SyncSource(**rows[0])

    async def all(self, owner_id: str) -> list[SyncSource]:
        """Returns the owner's sources, sorted by name."""
        query = sa.select(sources).where(sources.c.owner_id == owner_id).order_by(sources.c.name)
        return [SyncSource(**row) for row in await self._database.rows(query)]

    async def finish(
        self, owner_id: str, name: str, cursor: str | None, report: JsonObject, *, announced: bool = True
    ) -> SyncSource:
        """Records the end of a run: the cursor for the next one and its report. Notifies webhooks if `announced`."""
        now = time.time()
        event = OutgoingEvent(
            type=EventType.SYNC_FINISHED, key=f"{name}/{now}", data={"source": name, "report": dict(report)}
        )
        async with self._database.write() as connection:
            mine = sa.and_(sources.c.owner_id == owner_id, sources.c.name == name)
            values: dict[str, Any] = {"cursor": cursor, "report": dict(report), "finished_at": now}
            changed = (await connection.execute(sa.update(sources).where(mine).values(**values))).rowcount
            if changed and announced:
                await connection.run_sync(announce, owner_id, [event])
        return await self.get(owner_id, name)

    async def delete(self, owner_id: str, name: str) -> None:
        """Deletes a source and its items; imported files stay. Raises `NotFound`."""
        found = await self.get(owner_id, name)
        async with self._database.write() as connection:
            mine = sa.and_(sources.c.owner_id == owner_id, sources.c.id == found.id)
            await connection.execute(sa.delete(source_items).where(source_items.c.source_id.in_(_ids(mine))))
            await connection.execute(sa.delete(sources).where(mine))

    async def items(
        self, owner_id: str, source_id: str, limit: int, cursor: str | None = None
    ) -> tuple[list[SyncItem], str | None]:
        """Returns a page of items, sorted by key, and the next cursor."""
        query = self._items(owner_id, source_id)
        if cursor:
            (last,) = decode_cursor(cursor, str)
            query = query.where(source_items.c.key > last)
        rows = await self._database.rows(query.order_by(source_items.c.key).limit(limit + 1))
        found = [_item(row) for row in rows[:limit]]
        return found, encode_cursor(found[-1].key) if len(rows) > limit else None

    async def item(self, owner_id: str, source_id: str, key: str) -> SyncItem | None:
        """Returns the item that a source imported under a key, if any."""
        rows = await self._database.rows(self._items(owner_id, source_id).where(source_items.c.key == key))
        return _item(rows[0]) if rows else None

    async def keep(self, owner_id: str, source_id: str, item: SyncItem) -> None:
        """Stores an item, replacing the one with the same key; does nothing for a source that is not the owner's."""
        column = source_items.c
        changed: dict[sa.Column[Any], Any] = {
            column.stamp: item.stamp,
            column.resource_id: item.resource_id,
            column["keys"]: list(item.keys),
            column.problem: item.problem,
            column.problem_code: item.problem_code,
            column.updated_at: time.time(),
        }
        async with self._database.write() as connection:
            mine = sa.and_(sources.c.owner_id == owner_id, sources.c.id == source_id)
            if await connection.scalar(sa.select(sources.c.id).where(mine)) is not None:
                await upsert(connection, {column.source_id: source_id, column.key: item.key, **changed}, changed)

    async def forget(self, owner_id: str, source_id: str, key: str) -> None:
        """Deletes an item."""
        mine = sa.and_(sources.c.owner_id == owner_id, sources.c.id == source_id)
        async with self._database.write() as connection:
            gone = sa.and_(source_items.c.source_id.in_(_ids(mine)), source_items.c.key == key)
            await connection.execute(sa.delete(source_items).where(gone))

    def _items(self, owner_id: str, source_id: str) -> sa.Select[*tuple[Any, ...]]:
        """Selects items; the resource id is null once the resource is deleted."""
        table = source_items
        joined = table.join(sources, sources.c.id == table.c.source_id).outerjoin(
            resources, sa.and_(resources.c.id == table.c.resource_id, resources.c.owner_id == sources.c.owner_id)
        )
        named_columns = (table.c.key, table.c.stamp, table.c["keys"], table.c.problem, table.c.problem_code)
        return (
            sa.select(*named_columns, resources.c.id.label("resource_id"), resources.c.status)
            .select_from(joined)
            .where(sources.c.owner_id == owner_id, sources.c.id == source_id)
        )


def _ids(mine: sa.ColumnElement[bool]) -> sa.Select[tuple[str]]:
    return sa.select(sources.c.id).where(mine)


def _item(row: sa.RowMapping) -> SyncItem:
    return SyncItem(
        key=row["key"],
        stamp=row["stamp"],
        resource_id=row["resource_id"],
        keys=tuple(row["keys"]),
        problem=row["problem"],
        problem_code=row["problem_code"],
        status=row["status"],
    )
