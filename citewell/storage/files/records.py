"""Records: texts added directly (`add_texts`), written in bulk as resources without files."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Forbidden, NotFound, VersionTaken, named
from citewell.storage.channels.outbox import announce_ended
from citewell.storage.clock import LeaseClock
from citewell.storage.database import Database
from citewell.storage.files.content import element_row, insert_chunks
from citewell.storage.files.projects import link
from citewell.storage.lookups import unindexed
from citewell.storage.spending.quotas import QuotaRepository
from citewell.storage.tables import chunks, elements, projects, resource_projects, resource_versions, resources
from citewell.storage.work.payload_changes import note_changes
from citewell.types import Category, Chunk, Element, Metadata, Searchable, Status, UploadOptions

_MAX_PARAMETERS = 500
_LEASE_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord:
    """A text that the caller identifies by `record_id`.

    title: used as the file name; equals the id if none was given (`has_title` false)
    """

    record_id: str
    title: str
    has_title: bool
    text: str
    content_hash: str
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """Where a record is stored: its resource, and the version of the new text."""

    resource_id: str
    version: int
    unchanged: bool
    is_new: bool


@dataclass(frozen=True, slots=True)
class Placing:
    """The project for new records, and how to treat existing ones.

    joins:    existing records are added to the project as well
    is_bound: the caller is restricted to the project, and cannot change records that are also in others
    """

    project_id: str
    joins: bool = False
    is_bound: bool = False


class RecordRepository:
    """Writes records and their chunks in one transaction per batch."""

    def __init__(self, database: Database, quotas: QuotaRepository | None = None) -> None:
        self._database = database
        self._quotas = quotas or QuotaRepository(database)
        self._clock = LeaseClock(database)

    async def plan(self, owner_id: str, records: Sequence[TextRecord]) -> list[StoredRecord]:
        """Plans each record: a new resource, a new version of an existing one, or nothing if unchanged."""
        known: dict[str, tuple[str, int, str, str]] = {}
        async with self._database.read() as connection:
            for start in range(0, len(records), _MAX_PARAMETERS):
                ids = [r.record_id for r in records[start : start + _MAX_PARAMETERS]]
                query = sa.select(
                    resources.c.record_id,
                    resources.c.id,
                    resources.c.version,
                    resources.c.content_hash,
                    resources.c.status,
                ).where(resources.c.owner_id == owner_id, resources.c.record_id.in_(ids))
                known |= {row[0]: (row[1], row[2], row[3], row[4]) for row in await connection.execute(query)}
        return [_place(record, known.get(record.record_id)) for record in records]

    async def write(
        self,
        owner_id: str,
        placing: Placing,
        records: Sequence[TextRecord],
        places: Sequence[StoredRecord],
        new_elements: Sequence[Element],
        new_chunks: Sequence[Chunk],
    ) -> None:
        """Commits a batch of resources, versions, elements and chunks.

        They stay EXTRACTED and leased until `mark_indexed`; after a crash, a worker resumes them. Raises `NotFound` if
        the project or an existing resource in `places` is not the owner's, `Forbidden` if a caller bound to the project
        would change a record that is also in others, `VersionTaken` if another request wrote one of the records after
        `plan`, and `FilesQuotaReached` or `BytesQuotaReached` if the batch exceeds the owner's quota.
        """
        pairs = [(r, p) for r, p in zip(records, places, strict=True) if not p.unchanged]
        try:
            async with self._database.write() as connection:
                known = [p.resource_id for p in places if not p.is_new]
                await _check_owner(connection, owner_id, placing.project_id, known)
                await _place_known(connection, placing, list(zip(records, places, strict=True)))
                if not pairs:
                    return
                await self._take_room(connection, owner_id, pairs)
                leased_until = await self._clock.now(connection) + _LEASE_SECONDS
                await _write_resources(connection, owner_id, placing.project_id, pairs, leased_until)
                lines = zip(pairs, new_elements, strict=True)
                rows = [element_row(p.resource_id, p.version, 0, e, json.dumps(e.to_json())) for (_, p), e in lines]
                if rows:
                    await connection.execute(sa.insert(elements), rows)
                await connection.run_sync(insert_chunks, new_chunks)
        except IntegrityError as error:
            raise VersionTaken(
                "Another request wrote some of these records at the same time. Send them again."
            ) from error

    async def _take_room(
        self, connection: AsyncConnection, owner_id: str, pairs: Sequence[tuple[TextRecord, StoredRecord]]
    ) -> None:
        """Checks that a batch fits into the owner's quota; a new version replaces its predecessor's bytes."""
        room = await connection.run_sync(self._quotas.file_room, owner_id)
        replaced = [place.resource_id for _, place in pairs if not place.is_new]
        size = sum(len(record.text.encode()) for record, _ in pairs)
        if room.most_bytes is not None:
            for start in range(0, len(replaced), _MAX_PARAMETERS):
                some = resources.c.id.in_(replaced[start : start + _MAX_PARAMETERS])
                size -= int(
                    await connection.scalar(sa.select(sa.func.sum(resources.c.file_size_bytes)).where(some)) or 0
                )
        room.take(len(pairs) - len(replaced), size)

    async def mark_indexed(self, counts: Mapping[str, int]) -> None:
        """Sets resources (id → number of chunks) to INDEXED."""
        now = time.time()
        statement = (
            sa.update(resources)
            .where(resources.c.id == sa.bindparam("the_id"))
            .values(
                status=Status.INDEXED,
                chunk_count=sa.bindparam("the_count"),
                searchable=Searchable.FULL,
                indexed_at=now,
                lease_worker=None,
                lease_until=None,
            )
        )
        async with self._database.write() as connection:
            rows = [{"the_id": i, "the_count": n} for i, n in counts.items()]
            if rows:
                await connection.execute(statement, rows)
                await connection.run_sync(announce_ended, list(counts))


async def _check_owner(connection: AsyncConnection, owner_id: str, project_id: str, known: Sequence[str]) -> None:
    project = sa.select(projects.c.id).where(projects.c.id == project_id, projects.c.owner_id == owner_id)
    if await connection.scalar(project) is None:
        raise NotFound("The project does not exist, or you have no access to it.")
    for start in range(0, len(known), _MAX_PARAMETERS):
        part = known[start : start + _MAX_PARAMETERS]
        mine = sa.select(resources.c.id).where(resources.c.id.in_(part), unindexed(resources.c.owner_id) == owner_id)
        if set((await connection.execute(mine)).scalars()) != set(part):
            raise NotFound("The resource does not exist, or you have no access to it.")


async def _place_known(
    connection: AsyncConnection, placing: Placing, pairs: Sequence[tuple[TextRecord, StoredRecord]]
) -> None:
    """Adds existing records to the project if `joins`.

    Raises `Forbidden` if a bound caller would change a record that is also in other projects.
    """
    known = [place.resource_id for _, place in pairs if not place.is_new]
    if not known or not (placing.joins or placing.is_bound):
        return
    inside: dict[str, set[str]] = {one: set() for one in known}
    for start in range(0, len(known), _MAX_PARAMETERS):
        some = resource_projects.c.resource_id.in_(known[start : start + _MAX_PARAMETERS])
        for row in await connection.execute(sa.select(resource_projects).where(some)):
            inside[row.resource_id].add(row.project_id)
    for record, place in pairs:
        changes = not (place.is_new or place.unchanged)
        if placing.is_bound and changes and inside[place.resource_id] != {placing.project_id}:
            raise Forbidden(
                f"Record {named(record.record_id)} is also in other projects, so it cannot be changed from here. Choose another `id`."
            )
    if placing.joins:
        outside = [one for one in known if placing.project_id not in inside[one]]
        for one in outside:
            await connection.run_sync(link, one, placing.project_id)
        await connection.run_sync(note_changes, outside)


async def _write_resources(
    connection: AsyncConnection,
    owner_id: str,
    project_id: str,
    pairs: Sequence[tuple[TextRecord, StoredRecord]],
    leased_until: float,
) -> None:
    """Inserts rows for new resources; bumps the others' versions and deletes their chunks."""
    now = time.time()
    lease: dict[str, Any] = {"lease_worker": "records", "lease_until": leased_until}
    fresh = [(r, p) for r, p in pairs if p.is_new]
    replaced = [(r, p) for r, p in pairs if not p.is_new]
    if fresh:
        await connection.execute(sa.insert(resources), [_resource_row(owner_id, r, p, now) | lease for r, p in fresh])
        links = [{"resource_id": p.resource_id, "project_id": project_id} for _, p in fresh]
        await connection.execute(sa.insert(resource_projects), links)
    for record, place in replaced:
        changed = sa.update(resources).where(resources.c.id == place.resource_id)
        await connection.execute(changed.values(**_changing(record, place, now), **lease, fence=resources.c.fence + 1))
    if replaced:
        await connection.execute(
            sa.delete(chunks).where(chunks.c.resource_id.in_([p.resource_id for _, p in replaced]))
        )
    if pairs:
        await connection.execute(sa.insert(resource_versions), [_version_row(r, p, now) for r, p in pairs])


def _place(record: TextRecord, known: tuple[str, int, str, str] | None) -> StoredRecord:
    if known is None:
        return StoredRecord(str(uuid.uuid4()), 1, unchanged=False, is_new=True)
    resource_id, version, content_hash, status = known
    unchanged = content_hash == record.content_hash and status == Status.INDEXED
    return StoredRecord(resource_id, version if unchanged else version + 1, unchanged=unchanged, is_new=False)


def _changing(record: TextRecord, place: StoredRecord, now: float) -> dict[str, Any]:
    return {
        "filename": record.title,
        "content_hash": record.content_hash,
        "file_size_bytes": len(record.text.encode()),
        "version": place.version,
        "status": Status.EXTRACTED,
        "extraction_metadata": dict(record.metadata),
        "metadata": dict(record.metadata),
        "extracted_at": now,
        "indexed_at": None,
    }


def _resource_row(owner_id: str, record: TextRecord, place: StoredRecord, now: float) -> dict[str, Any]:
    return _changing(record, place, now) | {
        "id": place.resource_id,
        "owner_id": owner_id,
        "identifier": None,
        "mime_type": "text/plain",
        "detected_category": Category.RAG,
        "type": "text",
        "source": "api",
        "storage_backend": "sql",
        "chunk_count": 0,
        "created_at": now,
        "record_id": record.record_id,
        "options": asdict(UploadOptions()),
        "fence": 0,
    }


def _version_row(record: TextRecord, place: StoredRecord, now: float) -> dict[str, Any]:
    return {
        "resource_id": place.resource_id,
        "version": place.version,
        "filename": record.title,
        "content_hash": record.content_hash,
        "file_size_bytes": len(record.text.encode()),
        "mime_type": "text/plain",
        "blob_key": None,
        "created_at": now,
    }
