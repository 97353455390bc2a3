"""Resource timelines: one row per state change."""

from __future__ import annotations

import time
from collections.abc import Sequence

import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.tables import resource_events
from citewell.types import JsonObject, JsonValue, Status

_ADD = sa.insert(resource_events)


def record_event(
    connection: sa.Connection, resource_id: str, version: int, status: Status, details: JsonObject | None = None
) -> None:
    """Adds an event to the timeline, inside the caller's transaction."""
    row = {
        "resource_id": resource_id,
        "version": version,
        "at": time.time(),
        "status": status,
        "details": details or {},
    }
    connection.execute(_ADD, row)


def record_events(connection: sa.Connection, events: Sequence[tuple[str, int, Status, JsonObject]]) -> None:
    """Adds events, each (resource, version, status, details), to timelines, inside the caller's transaction."""
    now = time.time()
    names = ("resource_id", "version", "status", "details")
    if events:
        connection.execute(_ADD, [dict(zip(names, event, strict=True), at=now) for event in events])


class EventRepository:
    """Reads timelines."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self, resource_id: str) -> int:
        """Returns the id of a resource's latest event; 0 without events."""
        query = sa.select(sa.func.max(resource_events.c.id).label("newest")).where(
            resource_events.c.resource_id == resource_id
        )
        return (await self._database.rows(query))[0]["newest"] or 0

    async def since(self, resource_id: str, after: int = 0) -> list[dict[str, JsonValue]]:
        """Returns a resource's events with ids above `after`, oldest first."""
        table = resource_events
        query = sa.select(table).where(table.c.resource_id == resource_id, table.c.id > after).order_by(table.c.id)
        return [
            {"id": r["id"], "at": r["at"], "version": r["version"], "status": r["status"], **r["details"]}
            for r in await self._database.rows(query)
        ]
