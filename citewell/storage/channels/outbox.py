"""The transactional outbox of webhooks: events are written in the transaction of the change that they report.

So no event is lost in a crash, and none reports a change that failed.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from citewell.storage.accounts.tables import may_act
from citewell.storage.channels.webhook_tables import webhook_deliveries, webhooks
from citewell.storage.database import insert_new
from citewell.storage.tables import resources
from citewell.types import (
    FULLY_PROCESSED,
    Chunk,
    DeliveryState,
    ErrorStage,
    EventType,
    JsonObject,
    JsonValue,
    OutgoingEvent,
    Status,
)

MAX_BODY_BYTES = 256 * 1024
"""Maximum size of an event. A larger one is sent with its ids only."""
_NAMESPACE = uuid.UUID("3a0c8b86-6b0e-5b8e-9d3f-0f7a4d9c2e51")
_BATCH = 250
_ENDED = FULLY_PROCESSED | {Status.PARTIAL, Status.STORED, Status.FAILED}
_COLUMNS = (
    resources.c.id,
    resources.c.owner_id,
    resources.c.version,
    resources.c.fence,
    resources.c.filename,
    resources.c.identifier,
    resources.c.record_id,
    resources.c.mime_type,
    resources.c.detected_category,
    resources.c.file_size_bytes,
    resources.c.status,
    resources.c.chunk_count,
    resources.c.parent_id,
    resources.c.thread,
    resources.c.metadata,
    resources.c.error_code,
    resources.c.error_stage,
    resources.c.error_message,
)
_JOB_COLUMNS = ("owner_id", "fence")

# Compiled once, because every file's processing runs them.
_WANTED = (
    sa.select(webhooks.c.owner_id, webhooks.c.id, webhooks.c.events)
    .where(webhooks.c.enabled, may_act(webhooks.c.owner_id, webhooks.c.made_with))
    # Locked on Postgres: otherwise, deleting the webhook in the meantime would make the change itself fail.
    .with_for_update(read=True, key_share=True)
)
_WANTED_BY_OWNER = _WANTED.where(webhooks.c.owner_id == sa.bindparam("which"))
_WANTED_OF_RESOURCES = _WANTED.where(
    webhooks.c.owner_id.in_(
        sa.select(resources.c.owner_id).where(resources.c.id.in_(sa.bindparam("which", expanding=True)))
    )
)


def announce(connection: sa.Connection, owner_id: str, events: Sequence[OutgoingEvent]) -> None:
    """Queues these events for the owner's webhooks that subscribe to them, inside the caller's transaction."""
    types = {event.type for event in events}
    wanted = _wanted(connection, _WANTED_BY_OWNER, owner_id)
    for webhook_id, of in wanted.get(owner_id, ()):
        if types & of:
            enqueue(connection, owner_id, webhook_id, [event for event in events if event.type in of])


def announce_ended(connection: sa.Connection, resource_ids: Sequence[str]) -> None:
    """Announces the outcome of these resources; those still in progress are skipped."""
    for start in range(0, len(resource_ids), _BATCH):
        ids = resource_ids[start : start + _BATCH]
        wanted = _wanted(connection, _WANTED_OF_RESOURCES, ids)
        if not wanted:
            continue
        rows = connection.execute(sa.select(*_COLUMNS).where(resources.c.id.in_(ids))).mappings().all()
        for owner_id in wanted:
            ended = [row for row in rows if row["owner_id"] == owner_id and row["status"] in _ENDED]
            announce(connection, owner_id, [_ending(row) for row in ended])


def announce_deleted(
    connection: sa.Connection, owner_id: str, resource_ids: Sequence[str], has_expired: bool = False
) -> None:
    """Announces the deletion of these resources of the owner, before it happens."""
    reason: JsonObject = {"reason": "expired"} if has_expired else {}
    if not _wanted(connection, _WANTED_BY_OWNER, owner_id):
        return
    names = (resources.c.id, resources.c.version, resources.c.filename, resources.c.identifier, resources.c.record_id)
    for start in range(0, len(resource_ids), _BATCH):
        query = sa.select(*names).where(resources.c.id.in_(resource_ids[start : start + _BATCH]))
        gone = [dict(row) for row in connection.execute(query).mappings()]
        events = [
            OutgoingEvent(
                type=EventType.RESOURCE_DELETED, key=row["id"], data=_renamed(_present(row)) | reason, about=row["id"]
            )
            for row in gone
        ]
        announce(connection, owner_id, events)


def announce_chunks(connection: sa.Connection, stored: Sequence[Chunk]) -> None:
    """Announces stored chunks, all of one owner."""
    if not stored:
        return
    owner_id = stored[0].owner_id
    wanted = _wanted(connection, _WANTED_BY_OWNER, owner_id)
    if not any(EventType.CHUNK_STORED in of for _, of in wanted.get(owner_id, ())):
        return
    ids = sorted({chunk.resource_id for chunk in stored})
    files: dict[str, JsonObject] = {}
    for start in range(0, len(ids), _BATCH):
        query = sa.select(resources.c.id, resources.c.filename, resources.c.identifier, resources.c.record_id).where(
            resources.c.id.in_(ids[start : start + _BATCH])
        )
        files |= {row["id"]: _present(dict(row)) for row in connection.execute(query).mappings()}
    announce(connection, owner_id, [_stored(chunk, files.get(chunk.resource_id, {})) for chunk in stored])


def enqueue(connection: sa.Connection, owner_id: str, webhook_id: str, events: Iterable[OutgoingEvent]) -> list[str]:
    """Adds events to a webhook's queue, unless it already has one with the same key. Returns the delivery ids."""
    now = time.time()
    rows = [
        {
            "id": f"msg_{uuid.uuid5(_NAMESPACE, f'{webhook_id}/{event.type}/{event.key}').hex}",
            "webhook_id": webhook_id,
            "owner_id": owner_id,
            "type": event.type,
            "body": _body(event, now),
            "about": event.about,
            "state": DeliveryState.PENDING,
            "created_at": now,
            "started_at": now,
            "due": now,
        }
        for event in events
    ]
    for start in range(0, len(rows), _BATCH):
        connection.execute(insert_new(connection, webhook_deliveries), rows[start : start + _BATCH])
    return [str(row["id"]) for row in rows]


def _wanted(
    connection: sa.Connection, query: sa.Select[str, str, list[str]], which: str | Sequence[str]
) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Returns, by owner, the webhooks to notify, each with the event types that it subscribes to."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for owner_id, webhook_id, types in connection.execute(query, {"which": which}):
        found.setdefault(owner_id, []).append((webhook_id, frozenset(types)))
    return found


def _ending(row: sa.RowMapping) -> OutgoingEvent:
    is_indexed = row["status"] in FULLY_PROCESSED or (
        row["status"] == Status.PARTIAL and row["error_stage"] == ErrorStage.DESCRIPTION
    )
    shown = _present({name: value for name, value in row.items() if name not in _JOB_COLUMNS})
    return OutgoingEvent(
        type=EventType.RESOURCE_INDEXED if is_indexed else EventType.RESOURCE_FAILED,
        # The fence grows with every attempt, so each run has exactly one event.
        key=f"{row['id']}/{row['version']}/{row['fence']}",
        data=_renamed(shown),
        about=row["id"],
    )


def _stored(chunk: Chunk, file: JsonObject) -> OutgoingEvent:
    data: dict[str, JsonValue] = {
        "chunk_id": chunk.id,
        "resource_id": chunk.resource_id,
        "version": chunk.version,
        "ordinal": chunk.ordinal,
        "type": chunk.type.value,
        "text": chunk.text,
        "context": chunk.context,
        "locator": chunk.locator.to_json(),
        "token_count": chunk.token_count,
        **{name: value for name, value in file.items() if name != "id"},
    }
    return OutgoingEvent(type=EventType.CHUNK_STORED, key=chunk.id, data=data, about=chunk.resource_id)


def _present(row: dict[str, JsonValue] | dict[object, JsonValue]) -> dict[str, JsonValue]:
    return {str(name): value for name, value in row.items() if value is not None}


def _renamed(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Renames `id` to `resource_id` and puts it first, as in the data of all other events."""
    return {"resource_id": row["id"], **{name: value for name, value in row.items() if name != "id"}}


def _body(event: OutgoingEvent, now: float) -> str:
    data: JsonObject = event.data
    text = _dumped(event.type, data, now)
    if len(text.encode()) > MAX_BODY_BYTES:
        ids = {name: value for name, value in data.items() if name.endswith("_id") or name in ("status", "version")}
        text = _dumped(event.type, {**ids, "truncated": True}, now)
    return text


def _dumped(type: EventType, data: JsonObject, now: float) -> str:
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"type": type.value, "timestamp": at, "data": data}, ensure_ascii=False, separators=(",", ":"))
