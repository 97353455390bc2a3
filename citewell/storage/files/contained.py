"""Files inside files: archive members and mail attachments, which are searched with their containers."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from citewell.storage.database import Database, insert_new
from citewell.storage.lookups import unindexed
from citewell.storage.tables import contained_files, resources

_MAX_PARAMETERS = 500


async def with_contained(database: Database, owner_id: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Returns the ids, followed by those of the owner's files inside these files at any depth, each once."""
    found = dict.fromkeys(ids)
    generation = list(found)
    while generation:
        inside = [
            row["resource_id"]
            for start in range(0, len(generation), _MAX_PARAMETERS)
            for row in await database.rows(_inside(owner_id, generation[start : start + _MAX_PARAMETERS]))
        ]
        generation = [one for one in dict.fromkeys(inside) if one not in found]
        found |= dict.fromkeys(generation)
    return tuple(found)


def note_contained(connection: sa.Connection, container_id: str, resource_ids: Sequence[str]) -> None:
    """Records that files are inside another, in the caller's transaction; existing records stay."""
    rows = [
        {"container_id": container_id, "resource_id": one} for one in dict.fromkeys(resource_ids) if one != container_id
    ]
    if rows:
        connection.execute(insert_new(connection, contained_files), rows)


def _inside(owner_id: str, containers: Sequence[str]) -> sa.Select[tuple[str]]:
    table = contained_files
    return (
        sa.select(table.c.resource_id)
        .join(resources, resources.c.id == table.c.resource_id)
        .where(table.c.container_id.in_(containers), unindexed(resources.c.owner_id) == owner_id)
        .order_by(resources.c.created_at, resources.c.id)
    )
