"""Durable queue of files whose index payloads are out of date: queued with the change, then leased and rewritten."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from citewell.storage.clock import LeaseClock
from citewell.storage.database import Database
from citewell.storage.lookups import Lookup, unindexed
from citewell.storage.tables import payload_changes, projects, resource_projects, resources
from citewell.types import TERMINAL, FileFacts, JsonObject, Metadata, Status

_BATCH = 500
_STATED = ("date", "modified", "created", "tags", "keywords")
_IDS = sa.bindparam("ids", expanding=True)
# Compiled once, because every file's processing runs them.
_FACTS = Lookup(
    sa.select(
        resources.c.id,
        resources.c.filename,
        resources.c.language,
        resources.c.type,
        resources.c.detected_category,
        resources.c.identifier,
        resources.c.thread,
        resources.c.created_at,
        resources.c.metadata,
        *(resources.c.extraction_metadata[name].label(f"said_{name}") for name in _STATED),
    ).where(resources.c.id.in_(_IDS))
)
_ANY = sa.select(sa.literal(1).label("one")).select_from(payload_changes).limit(1)
_LINKED = Lookup(
    sa.select(resource_projects.c.resource_id, projects.c.id, projects.c.name)
    .join(projects, projects.c.id == resource_projects.c.project_id)
    .where(resource_projects.c.resource_id.in_(_IDS))
    .order_by(projects.c.id)
)


@dataclass(frozen=True, slots=True)
class PayloadChange:
    """A leased file whose points must be rewritten. `stamp` distinguishes this change from later ones.

    is_last: no running stage, such as embedding, may still write payloads that it read before
    """

    resource_id: str
    owner_id: str
    stamp: str
    is_last: bool = True


def note_changes(connection: sa.Connection, resource_ids: Sequence[str]) -> dict[str, str]:
    """Queues the payloads of these resources for rewriting, inside the caller's transaction; ends any lease on them.

    Returns the stamp of each change.
    """
    table, now = payload_changes, time.time()
    stamps = {one: str(uuid.uuid4()) for one in resource_ids}
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    items = list(stamps.items())
    for start in range(0, len(items), _BATCH):
        rows = [
            {"resource_id": one, "stamp": stamp, "lease_worker": None, "lease_until": None, "created_at": now}
            for one, stamp in items[start : start + _BATCH]
        ]
        new = insert(table).values(rows)
        again = {name: new.excluded[name] for name in ("stamp", "lease_worker", "lease_until", "created_at")}
        connection.execute(new.on_conflict_do_update(index_elements=[table.c.resource_id], set_=again))
    return stamps


class PayloadChangeRepository:
    """The queue of payload changes of all owners; for workers."""

    def __init__(self, database: Database, lease_seconds: float = 60.0) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._clock = LeaseClock(database)

    async def claim(self, worker: str, limit: int) -> list[PayloadChange]:
        """Leases up to `limit` changes, oldest first, of resources not in a stage, which would overwrite the payloads.

        Files still being embedded are leased, too, and must be leased again afterwards.
        """
        table = payload_changes
        # The queue is nearly always empty, and a write transaction would block other writers and invalidate caches.
        if not await self._database.rows(_ANY):
            return []
        async with self._database.write() as connection:
            now = await self._clock.now(connection)
            waiting = (
                sa.select(
                    table.c.resource_id, resources.c.owner_id, table.c.stamp, resources.c.status != Status.EMBEDDING
                )
                .join(resources, resources.c.id == table.c.resource_id)
                .where(
                    unindexed(resources.c.status).in_([*sorted(TERMINAL), Status.EMBEDDING]),
                    sa.or_(table.c.lease_until.is_(None), table.c.lease_until < now),
                )
                .order_by(table.c.created_at, table.c.resource_id)
                .limit(limit)
            )
            if not self._database.is_sqlite:
                waiting = waiting.with_for_update(of=table, skip_locked=True)
            found = [PayloadChange(*row[:3], is_last=bool(row[3])) for row in await connection.execute(waiting)]
            await connection.execute(
                sa.update(table)
                .where(table.c.resource_id.in_([one.resource_id for one in found]))
                .values(lease_worker=worker, lease_until=now + self._lease_seconds)
            )
        return found

    async def finish(self, done: Sequence[PayloadChange]) -> None:
        """Removes changes applied to every index; files changed again in the meantime stay queued."""
        table = payload_changes
        async with self._database.write() as connection:
            for start in range(0, len(done), _BATCH):
                pairs = [(one.resource_id, one.stamp) for one in done[start : start + _BATCH]]
                await connection.execute(
                    sa.delete(table).where(sa.tuple_(table.c.resource_id, table.c.stamp).in_(pairs))
                )

    async def release(self, worker: str | None = None) -> None:
        """Ends the leases of a worker (None: of all, at startup on SQLite), so that others can take over at once."""
        ended = sa.update(payload_changes).values(lease_worker=None, lease_until=None)
        if worker is not None:
            ended = ended.where(payload_changes.c.lease_worker == worker)
        async with self._database.write() as connection:
            await connection.execute(ended)

    async def waiting(self) -> int:
        """Counts the files with outdated payloads."""
        async with self._database.read() as connection:
            return await connection.scalar(sa.select(sa.func.count()).select_from(payload_changes)) or 0

    async def facts(self, resource_ids: Sequence[str]) -> dict[str, FileFacts]:
        """Returns the facts that points store about these resources; missing ones are omitted."""
        found: dict[str, FileFacts] = {}
        for start in range(0, len(resource_ids), _BATCH):
            found |= await file_facts(self._database, resource_ids[start : start + _BATCH])
        return found


async def file_facts(database: Database, resource_ids: Sequence[str]) -> dict[str, FileFacts]:
    """Returns the facts that points store about up to a few hundred resources; missing ones are omitted."""
    names: dict[str, list[str]] = {}
    for row in await database.look_up(_LINKED, resource_ids, {}):
        names.setdefault(row["resource_id"], []).extend((row["id"], row["name"]))
    rows = await database.look_up(_FACTS, resource_ids, {})
    return {row["id"]: _facts(row, names.get(row["id"], ())) for row in rows}


def metadata_of(stored: Mapping[str, Any]) -> Metadata:
    """Converts metadata from its JSON column: lists become tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}


def _facts(row: Mapping[Any, Any], projects_of: Iterable[str]) -> FileFacts:
    return FileFacts(
        filename=row["filename"],
        language=row["language"],
        type=row["type"],
        category=row["detected_category"],
        identifier=row["identifier"],
        thread=row["thread"],
        projects=tuple(projects_of),
        uploaded_at=row["created_at"],
        metadata=metadata_of(row["metadata"] or {}),
        stated={name: row[f"said_{name}"] for name in _STATED if row[f"said_{name}"] is not None},
    )


def stated_of(extraction_metadata: JsonObject) -> JsonObject:
    """Returns what points store of a file's own metadata, as `file_facts` reads it from the row."""
    return {name: said for name in _STATED if (said := extraction_metadata.get(name)) is not None}
