"""Rows of new files: uploads, and files found inside other files."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from citewell.errors import TooLarge
from citewell.storage.files.contained import note_contained
from citewell.storage.files.expiry import times_of
from citewell.storage.files.projects import link
from citewell.storage.lookups import Prepared
from citewell.storage.spending.quotas import FileRoom
from citewell.storage.tables import resource_events, resource_projects, resource_versions, resources
from citewell.storage.work.payload_changes import note_changes
from citewell.types import Metadata, MetadataValue, Status, UploadOptions

_MOMENT = 1e-6  # seconds
# Delays a file's turn in proportion to its size, by about the time a parser takes: smaller later uploads overtake it.
_BYTES_PER_SECOND = 500_000
_MAX_WAIT = 600.0
_SECONDS_PER_SIBLING = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResource:
    """What stage 1 knows about an upload once its bytes are stored.

    content_hash: identifies the content; equals `bytes_hash`, except for an item of a synced source
    version:      the number in `blob_key`; None if any will do
    expires_at:   the end of its lifetime; None for no end
    """

    id: str
    owner_id: str
    filename: str
    identifier: str | None
    file_size_bytes: int
    mime_type: str
    content_hash: str
    detected_category: str
    type: str
    source: str
    storage_backend: str
    blob_key: str
    options: UploadOptions
    parent_id: str | None = None
    metadata: Metadata = field(default_factory=dict[str, MetadataValue])
    thread: str | None = None
    bytes_hash: str | None = None
    version: int | None = None
    expires_at: float | None = None


# Column values of a resource whose content has not been processed.
FRESH: dict[str, Any] = {
    "error_message": None,
    "error_stage": None,
    "error_code": None,
    "extraction_metadata": {},
    "coverage": None,
    "language": None,
    "summary": None,
    "extracted_at": None,
    "indexed_at": None,
    "extraction_duration_ms": None,
    "indexing_duration_ms": None,
    "attempt": 0,
    "deaths": 0,
    "lease_worker": None,
    "lease_until": None,
    "not_before": 0,
}


def content_values(new: NewResource) -> dict[str, Any]:
    """Returns the columns that a new version changes."""
    return {
        "filename": new.filename,
        "file_size_bytes": new.file_size_bytes,
        "mime_type": new.mime_type,
        "content_hash": new.content_hash,
        "detected_category": new.detected_category,
        "type": new.type,
        "storage_backend": new.storage_backend,
        "options": asdict(new.options),
    }


@dataclass(frozen=True, slots=True)
class InsertedChildren:
    """The result of inserting a file's children: ids of new rows, and reasons for missing ones by content hash."""

    made: frozenset[str]
    refused: Mapping[str, str]


def insert_children(
    connection: sa.Connection, new: Sequence[NewResource], project_id: str, room: FileRoom, before: int = 0
) -> InsertedChildren:
    """Inserts rows for children whose content the owner does not have yet, within quota, in the caller's transaction.

    Links all children to the project and records their container. All belong to one owner and one file, of whose
    children `before` were inserted earlier.
    """
    try:
        with connection.begin_nested():
            return _insert_or_link_all(connection, new, project_id, replace(room), before)
    except IntegrityError:  # on Postgres: some of the same bytes were committed between our check and insert
        return _insert_or_link_all(connection, new, project_id, room, before)


def _insert_or_link_all(
    connection: sa.Connection, new: Sequence[NewResource], project_id: str, room: FileRoom, before: int
) -> InsertedChildren:
    found = sa.select(resources.c.content_hash, resources.c.id).where(
        resources.c.owner_id == new[0].owner_id, resources.c.content_hash.in_([n.content_hash for n in new])
    )
    known = {row.content_hash: row.id for row in connection.execute(found)}
    fresh: dict[str, NewResource] = {}
    refused: dict[str, str] = {}
    for one in new:
        if one.content_hash in known or one.content_hash in fresh or one.content_hash in refused:
            continue
        try:
            room.take(1, one.file_size_bytes)
        except TooLarge as error:
            refused[one.content_hash] = error.message
        else:
            fresh[one.content_hash] = one
    insert_resources(connection, list(fresh.values()), before)
    if new[0].parent_id is not None:
        note_contained(connection, new[0].parent_id, [*known.values(), *(one.id for one in fresh.values())])
    if project_id:
        for resource_id in known.values():
            if link(connection, resource_id, project_id):
                note_changes(connection, [resource_id])
        links = [{"resource_id": one.id, "project_id": project_id} for one in fresh.values()]
        if links:
            connection.execute(sa.insert(resource_projects), links)
    return InsertedChildren(frozenset(one.id for one in fresh.values()), refused)


def insert_resources(connection: sa.Connection, new: Sequence[NewResource], before: int = 0) -> None:
    """Inserts rows with creation times a moment apart, so that lists show them in order.

    In the queue, they are spaced further apart, as if uploaded one by one, so that the owner's later uploads go in
    between.
    """
    if not new:
        return
    now = time.time()
    rows = [
        {
            "id": one.id,
            "owner_id": one.owner_id,
            "identifier": one.identifier,
            "source": one.source,
            "parent_id": one.parent_id,
            "metadata": dict(one.metadata),
            "thread": one.thread,
            "version": 1,
            "status": Status.UPLOADED,
            "chunk_count": 0,
            **times_of(one.expires_at, now),
            "created_at": now + place * _MOMENT,
            "due": due(now, one.file_size_bytes) + (before + place) * _SECONDS_PER_SIBLING,
            "fence": 0,
            **content_values(one),
            **FRESH,
        }
        for place, one in enumerate(new)
    ]
    connection.execute(sa.insert(resources), rows)
    versions = [version_row(one, one.id, 1, now) for one in new]
    connection.execute(sa.insert(resource_versions), versions)
    events = [{"resource_id": one.id, "version": 1, "at": now, "status": Status.UPLOADED, "details": {}} for one in new]
    connection.execute(sa.insert(resource_events), events)


def due(now: float, size: int) -> float:
    """Returns when a file's turn comes among its owner's: small files overtake large ones, but delays are bounded."""
    return now + min(size / _BYTES_PER_SECOND, _MAX_WAIT)


def version_row(new: NewResource, resource_id: str, version: int, now: float) -> dict[str, Any]:
    """Builds the row of a version."""
    return {
        "resource_id": resource_id,
        "version": version,
        "filename": new.filename,
        "content_hash": new.bytes_hash or new.content_hash,
        "file_size_bytes": new.file_size_bytes,
        "mime_type": new.mime_type,
        "blob_key": new.blob_key,
        "created_at": now,
    }


def id_of_content(connection: sa.Connection, owner_id: str, content_hash: str) -> str | None:
    """Returns the id of the owner's resource with this content, if any."""
    return connection.scalar(WITH_CONTENT.query, {"owner": owner_id, "hash": content_hash})


# The id of the owner's resource with this content. Compiled once, because every upload runs it twice.
WITH_CONTENT = Prepared(
    sa.select(resources.c.id).where(
        resources.c.owner_id == sa.bindparam("owner"), resources.c.content_hash == sa.bindparam("hash")
    )
)
