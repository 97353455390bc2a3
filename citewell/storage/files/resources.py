"""Resources: created once per content, listed by cursor, deleted with a receipt."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Conflict, NotFound, VersionTaken
from citewell.storage.channels.outbox import announce_deleted
from citewell.storage.conversations.quotations import empty
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database
from citewell.storage.files.events import record_event
from citewell.storage.files.expiry import keep_receipt
from citewell.storage.files.file_filters import owner_column, resource_conditions
from citewell.storage.files.new_resources import (
    FRESH,
    WITH_CONTENT,
    NewResource,
    content_values,
    due,
    id_of_content,
    insert_resources,
    version_row,
)
from citewell.storage.files.projects import link
from citewell.storage.lookups import Prepared, unindexed
from citewell.storage.spending.quotas import QuotaRepository
from citewell.storage.tables import (
    chunks,
    deletions,
    elements,
    resource_blobs,
    resource_projects,
    resource_versions,
    resources,
)
from citewell.storage.work.payload_changes import metadata_of, note_changes
from citewell.types import (
    Coverage,
    JsonObject,
    Resource,
    ResourceFilter,
    ResourceSummary,
    Searchable,
    Status,
    UploadOptions,
)

_OF_VERSION = (
    resource_versions.c.resource_id == resources.c.id,
    resource_versions.c.version == resources.c.version,
)
# `content_hash` identifies a resource and is not always the hash of its bytes.
_BYTES_HASH = sa.select(resource_versions.c.content_hash).where(*_OF_VERSION).scalar_subquery().label("bytes_hash")
_BLOB_KEY = sa.select(resource_versions.c.blob_key).where(*_OF_VERSION).scalar_subquery().label("blob_key")
_JOB_COLUMNS = {
    "attempt",
    "deaths",
    "fence",
    "lease_worker",
    "lease_until",
    "not_before",
    "due",
    "reindex_id",
    "notice_at",
}
_PUBLIC = [*(c for c in resources.c if c.name not in _JOB_COLUMNS), _BYTES_HASH]
# Columns that grow with a file's content; summaries omit them.
_CONTENT = {"extraction_metadata", "coverage", "summary"}
_BRIEF = [c for c in _PUBLIC if c.name not in _CONTENT]
# Built once, because every stage of every file starts with it.
_ONE = sa.select(*_PUBLIC).where(resources.c.id == sa.bindparam("one"), resources.c.owner_id == sa.bindparam("owner"))
_WITH_KEY = sa.select(*_PUBLIC, _BLOB_KEY).where(
    resources.c.id.in_(sa.bindparam("ids", expanding=True)), unindexed(resources.c.owner_id) == sa.bindparam("owner")
)
_ORIGINAL = Prepared(
    sa.select(
        *(
            resource_versions.c[name]
            for name in ("blob_key", "filename", "mime_type", "file_size_bytes", "content_hash")
        )
    )
    .join(resources, resources.c.id == resource_versions.c.resource_id)
    .where(
        resource_versions.c.resource_id == sa.bindparam("one"),
        resources.c.owner_id == sa.bindparam("owner"),
        resource_versions.c.version
        == sa.case(
            (sa.bindparam("version", type_=sa.Integer()) > 0, sa.bindparam("version")), else_=resources.c.version
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a deletion: counts, and the keys of the blobs to delete next.

    quotations: emptied citations in all owners' conversations
    is_busy:    a worker held one of the resources and may write points until it notices
    """

    id: str
    owner_id: str
    resource_ids: tuple[str, ...]
    blob_keys: tuple[str, ...]
    chunks: int
    elements: int
    quotations: int = 0
    is_busy: bool = False

    def to_json(self) -> JsonObject:
        """The public form."""
        counts: JsonObject = {"chunks": self.chunks, "elements": self.elements, "files": len(self.blob_keys)}
        return {"deleted": list(self.resource_ids), **counts, "quotations": self.quotations}


@dataclass(frozen=True, slots=True)
class Original:
    """The uploaded bytes of a version: blob key and properties."""

    key: str
    filename: str
    mime_type: str
    size: int
    content_hash: str


class ResourceRepository:
    """Resources by id; every method is scoped by owner. quotas: limits on files and bytes per owner"""

    def __init__(self, database: Database, quotas: QuotaRepository | None = None) -> None:
        self._database = database
        self._quotas = quotas or QuotaRepository(database)

    async def create(self, new: NewResource, project_id: str) -> tuple[Resource, bool]:
        """Creates a resource, or links the owner's existing one with this content to the project; True if created.

        Raises `FilesQuotaReached` or `BytesQuotaReached` if a new one exceeds the quota.
        """
        try:
            known = await self._insert_or_link(new, project_id)
        except IntegrityError:  # on Postgres: the same bytes were committed between our check and insert
            known = await self._insert_or_link(new, project_id)
        return await self.get(new.owner_id, known or new.id), known is None

    async def _insert_or_link(self, new: NewResource, project_id: str) -> str | None:
        def write(connection: sa.Connection) -> str | None:
            known = id_of_content(connection, new.owner_id, new.content_hash)
            if known is None:
                self._quotas.file_room(connection, new.owner_id).take(1, new.file_size_bytes)
                insert_resources(connection, [new])
            if project_id and link(connection, known or new.id, project_id) and known is not None:
                note_changes(connection, [known])
            return known

        return await self._database.change(write)

    async def get(self, owner_id: str, resource_id: str) -> Resource:
        """Returns one resource. Raises `NotFound` if it is not the owner's."""

        def read(connection: sa.Connection) -> tuple[sa.RowMapping | None, dict[str, list[str]]]:
            row = connection.execute(_ONE, {"one": resource_id, "owner": owner_id}).mappings().first()
            return row, {} if row is None else _by_resource(connection.execute(_links([resource_id])).mappings())

        row, linked = await self._database.look(read)
        if row is None:
            raise NotFound("The resource does not exist, or you have no access to it.")
        return _resource(row, linked)

    async def several(self, owner_id: str, ids: Sequence[str]) -> list[tuple[Resource, str]]:
        """Returns those of a few resources that are the owner's and have a file, each with the blob key of its bytes."""
        rows = await self._database.rows(_WITH_KEY, {"owner": owner_id, "ids": list(ids)})
        linked = await self._projects_of([row["id"] for row in rows])
        kept = [{name: value for name, value in row.items() if name != "blob_key"} for row in rows]
        return [
            (_resource(one, linked), row["blob_key"]) for one, row in zip(kept, rows, strict=True) if row["blob_key"]
        ]

    async def projects_within(self, owner_id: str, resource_id: str) -> frozenset[str]:
        """Returns the projects of a resource and of files inside it. Raises `NotFound` if it is not the owner's."""
        async with self._database.read() as connection:
            ids = await _family(connection, owner_id, resource_id)
            return frozenset(row.project_id for row in await connection.execute(_links(ids)))

    async def find_by_content(self, owner_id: str, content_hash: str) -> str | None:
        """Returns the id of the owner's resource with this content, if any."""
        rows = await self._database.fetch(WITH_CONTENT, owner=owner_id, hash=content_hash)
        return rows[0]["id"] if rows else None

    async def outside(self, owner_id: str, names: Collection[str], project_ids: Collection[str]) -> set[str]:
        """Returns which of these few hundred ids and content hashes are of owned resources in none of the projects."""
        if not names:
            return set()
        linked = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id.in_(project_ids))
        called = sa.or_(resources.c.id.in_(names), resources.c.content_hash.in_(names))
        query = sa.select(resources.c.id, resources.c.content_hash).where(
            resources.c.owner_id == owner_id, called, resources.c.id.not_in(linked)
        )
        found = await self._database.rows(query)
        return {name for row in found for name in (row["id"], row["content_hash"])}.intersection(names)

    async def known_contents(self, owner_id: str, hashes: Sequence[str]) -> set[str]:
        """Returns which of these few hundred content hashes the owner has a resource for."""
        query = sa.select(resources.c.content_hash).where(
            resources.c.owner_id == owner_id, resources.c.content_hash.in_(hashes)
        )
        return {row["content_hash"] for row in await self._database.rows(query)}

    async def page(
        self, owner_id: str, filter: ResourceFilter, limit: int, cursor: str | None
    ) -> tuple[list[Resource], str | None]:
        """Returns a page of resources, newest first, and the next cursor."""
        query = sa.select(*_PUBLIC).where(
            owner_column(filter) == owner_id, *resource_conditions(filter, self._database.is_sqlite)
        )
        rows, linked = await self._rows(query, limit, cursor)
        found = [_resource(row, linked) for row in rows[:limit]]
        return found, _next_cursor(found, len(rows) > limit)

    async def with_tables(self, owner_id: str, filter: ResourceFilter, limit: int) -> list[Resource]:
        """Returns the newest `limit` matching resources that have exact copies of tables."""
        copied = sa.select(resource_blobs.c.resource_id).where(resource_blobs.c.kind == "parquet")
        query = sa.select(*_PUBLIC).where(
            unindexed(resources.c.owner_id)
            == owner_id,  # so that SQLite starts from the few copies, not from all resources by age
            resources.c.id.in_(copied),
            *resource_conditions(filter, self._database.is_sqlite),
        )
        rows, linked = await self._rows(query, limit, None)
        return [_resource(row, linked) for row in rows[:limit]]

    async def summaries(
        self, owner_id: str, filter: ResourceFilter, limit: int, cursor: str | None
    ) -> tuple[list[ResourceSummary], str | None]:
        """Like `page`, but with summaries of bounded size, for long lists and polling."""
        units = resources.c.coverage["units"]
        length = sa.func.json_array_length if self._database.is_sqlite else sa.func.jsonb_array_length
        first = resources.c.coverage[("units", 0, "unit")].as_string()
        query = sa.select(*_BRIEF, first.label("unit"), length(units).label("unit_count"))
        mine = query.where(owner_column(filter) == owner_id, *resource_conditions(filter, self._database.is_sqlite))
        rows, linked = await self._rows(mine, limit, cursor)
        found = [_summary(row, linked) for row in rows[:limit]]
        return found, _next_cursor([s.resource for s in found], len(rows) > limit)

    async def _rows(
        self, query: sa.Select[*tuple[Any, ...]], limit: int, cursor: str | None
    ) -> tuple[Sequence[Mapping[Any, Any]], dict[str, list[str]]]:
        """Returns at most `limit + 1` rows of a query, newest first, and their projects."""
        if cursor:
            created, last = decode_cursor(cursor, float, str)
            query = query.where(sa.tuple_(resources.c.created_at, resources.c.id) < sa.tuple_(created, last))
        query = query.order_by(resources.c.created_at.desc(), resources.c.id.desc()).limit(limit + 1)
        rows = await self._database.rows(query)
        return rows, await self._projects_of([row["id"] for row in rows])

    async def _projects_of(self, ids: Sequence[str]) -> dict[str, list[str]]:
        return _by_resource(await self._database.rows(_links(ids))) if ids else {}

    async def add_version(self, owner_id: str, resource_id: str, new: NewResource) -> Resource:
        """Adds a version, which starts at UPLOADED; the old version's chunks stay until the new ones replace them.

        Raises `VersionTaken` if the next version is not the one in `new`, and `BytesQuotaReached` if it exceeds the
        quota.
        """
        try:
            await self._add_version(owner_id, resource_id, new)
        except IntegrityError:  # on Postgres: another resource got the same bytes between our check and update
            await self._add_version(owner_id, resource_id, new)
        return await self.get(owner_id, resource_id)

    async def _add_version(self, owner_id: str, resource_id: str, new: NewResource) -> None:
        mine = sa.and_(resources.c.id == resource_id, resources.c.owner_id == owner_id)
        async with self._database.write() as connection:
            # Locked on Postgres, so that concurrent versions are added one after the other.
            version = await connection.scalar(sa.select(resources.c.version).where(mine).with_for_update())
            if version is None:
                raise NotFound("The resource does not exist, or you have no access to it.")
            if new.version not in (None, version + 1):
                raise VersionTaken
            taken = await connection.run_sync(id_of_content, owner_id, new.content_hash)
            if taken is not None:
                raise Conflict("You already have a file with this content.", resource_id=taken)
            (await connection.run_sync(self._quotas.file_room, owner_id)).take(0, new.file_size_bytes)
            values = content_values(new) | FRESH | {"version": version + 1, "status": Status.UPLOADED}
            values["due"] = due(time.time(), new.file_size_bytes)
            await connection.execute(sa.update(resources).where(mine).values(**values, fence=resources.c.fence + 1))
            row = version_row(new, resource_id, version + 1, time.time())
            await connection.execute(sa.insert(resource_versions), row)
            await connection.run_sync(record_event, resource_id, version + 1, Status.UPLOADED)

    async def original(self, owner_id: str, resource_id: str, version: int | None = None) -> Original:
        """Locates the bytes of a version (default: the current one).

        Raises `NotFound` for a resource without a file, or without this version.
        """
        rows = await self._database.fetch(_ORIGINAL, one=resource_id, owner=owner_id, version=version or 0)
        if not rows:
            resource = await self.get(owner_id, resource_id)  # raises if there is no such resource
            if version is not None and not 0 < version <= resource.version:
                raise NotFound(f"This file has no version {version}: its newest is {resource.version}.")
        if not rows or rows[0]["blob_key"] is None:
            raise NotFound("This resource has no file.")
        return Original(*rows[0].values())

    async def delete(self, owner_id: str, resource_id: str, *, has_expired: bool = False) -> Receipt:
        """Deletes a resource with its children and everything derived from them; keeps the receipt of an expired one.

        The caller deletes blobs and vectors by the receipt, then calls `finish_deletion`; until then, it is in
        `unfinished_deletions`.
        """
        async with self._database.write() as connection:
            ids = await _family(connection, owner_id, resource_id)
            # On Postgres: answers citing them either have committed, and are emptied here, or will find them gone.
            await connection.execute(sa.select(resources.c.id).where(resources.c.id.in_(ids)).with_for_update())
            keys = await _blob_keys(connection, ids)
            counts = [
                await connection.scalar(sa.select(sa.func.count()).where(t.c.resource_id.in_(ids)).select_from(t)) or 0
                for t in (chunks, elements)
            ]
            held = sa.select(sa.func.count(resources.c.lease_worker)).where(resources.c.id.in_(ids))
            is_busy = bool(await connection.scalar(held))
            await connection.run_sync(announce_deleted, owner_id, ids, has_expired)
            quotations = await connection.run_sync(empty, ids)
            await connection.execute(sa.delete(resources).where(resources.c.id.in_(ids)))
            receipt = Receipt(
                str(uuid.uuid4()), owner_id, tuple(ids), tuple(keys), *counts, quotations=quotations, is_busy=is_busy
            )
            await connection.execute(
                sa.insert(deletions).values(
                    id=receipt.id, owner_id=owner_id, resource_ids=ids, blob_keys=keys, created_at=time.time()
                )
            )
            if has_expired:
                await connection.run_sync(keep_receipt, owner_id, resource_id, receipt.to_json())
        return receipt

    async def unfinished_deletions(self) -> list[Receipt]:
        """Returns deletions that a previous process may not have finished everywhere, without counts."""
        rows = await self._database.rows(sa.select(deletions))
        return [
            Receipt(row["id"], row["owner_id"], tuple(row["resource_ids"]), tuple(row["blob_keys"]), 0, 0)
            for row in rows
        ]

    async def finish_deletion(self, receipt: Receipt) -> None:
        """Records that vectors and blobs have been deleted, too."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(deletions).where(deletions.c.id == receipt.id))

    async def count_characters(self, owner_id: str, filter: ResourceFilter) -> int:
        """Sums the characters extracted from the owner's matching files; records without coverage count bytes."""
        read = sa.func.coalesce(resources.c.coverage["characters"].as_integer(), resources.c.file_size_bytes)
        query = sa.select(sa.func.coalesce(sa.func.sum(read), 0).label("characters")).where(
            owner_column(filter) == owner_id, *resource_conditions(filter, self._database.is_sqlite)
        )
        return int((await self._database.rows(query))[0]["characters"])

    async def owned(self, owner_id: str, ids: Sequence[str]) -> set[str]:
        """Returns which of `ids` exist and belong to the owner."""
        query = sa.select(resources.c.id).where(unindexed(resources.c.owner_id) == owner_id, resources.c.id.in_(ids))
        return {row["id"] for row in await self._database.rows(query)}

    async def known_blob_keys(self) -> set[str]:
        """Returns every blob key that a row refers to."""
        async with self._database.read() as connection:
            originals = (await connection.execute(sa.select(resource_versions.c.blob_key))).scalars()
            extracted = (await connection.execute(sa.select(resource_blobs.c.key))).scalars()
            return {key for key in (*originals, *extracted) if key}

    async def languages(self) -> dict[str, int]:
        """Returns the number of indexed files of all owners by language (ISO 639-1), without those whose language is not known."""
        column = resources.c.language
        query = sa.select(column, sa.func.count().label("files")).where(
            column.is_not(None), resources.c.chunk_count > 0
        )
        return {row["language"]: row["files"] for row in await self._database.rows(query.group_by(column))}

    async def counts(self, owner_id: str) -> dict[str, int]:
        """Returns the owner's number of resources by status."""
        mine = resources.c.owner_id == owner_id
        query = sa.select(resources.c.status, sa.func.count().label("files")).where(mine).group_by(resources.c.status)
        return {row["status"]: row["files"] for row in await self._database.rows(query)}


async def _family(connection: AsyncConnection, owner_id: str, resource_id: str) -> list[str]:
    mine = sa.select(resources.c.id).where(resources.c.id == resource_id, resources.c.owner_id == owner_id)
    ids = list((await connection.execute(mine)).scalars())
    if not ids:
        raise NotFound("The resource does not exist, or you have no access to it.")
    generation = ids
    while generation:
        children = sa.select(resources.c.id).where(resources.c.parent_id.in_(generation))
        generation = list((await connection.execute(children)).scalars())
        ids = ids + generation
    return ids


async def _blob_keys(connection: AsyncConnection, ids: Sequence[str]) -> list[str]:
    keys: list[str] = []
    for column, table in ((resource_versions.c.blob_key, resource_versions), (resource_blobs.c.key, resource_blobs)):
        found = await connection.execute(sa.select(column).where(table.c.resource_id.in_(ids)))
        keys += [key for key in found.scalars() if key]
    return keys


def _resource(row: Mapping[Any, Any], linked: Mapping[str, Sequence[str]]) -> Resource:
    values: dict[str, Any] = dict(row)
    values["status"] = Status(values["status"])
    values["coverage"] = Coverage.from_json(values["coverage"]) if values["coverage"] else None
    values["options"] = UploadOptions(**values["options"])
    values["metadata"] = metadata_of(values["metadata"])
    values["searchable"] = Searchable(values["searchable"]) if values["searchable"] else None
    return Resource(**values, project_ids=tuple(linked.get(values["id"], ())))


def _summary(row: Mapping[Any, Any], linked: Mapping[str, Sequence[str]]) -> ResourceSummary:
    brief = {name: value for name, value in row.items() if name not in ("unit", "unit_count")}
    absent = {"extraction_metadata": {}, "coverage": None, "summary": None}
    return ResourceSummary(_resource(brief | absent, linked), row["unit"], row["unit_count"] or 0)


def _links(resource_ids: Sequence[str]) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(resource_projects).where(resource_projects.c.resource_id.in_(resource_ids))


def _by_resource(links: Iterable[Mapping[Any, Any]]) -> dict[str, list[str]]:
    """Groups project ids by resource."""
    found: dict[str, list[str]] = {}
    for row in links:
        found.setdefault(row["resource_id"], []).append(row["project_id"])
    return found


def _next_cursor(found: Sequence[Resource], more: bool) -> str | None:
    return encode_cursor(found[-1].created_at, found[-1].id) if more else None
