"""Files uploaded to Anthropic, by resource and version. A row outlives its resource until the upload is deleted."""

from __future__ import annotations

import time

import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.channels.webhook_tables import claude_files
from citewell.storage.database import Database, upsert
from citewell.storage.tables import resources


class ClaudeFileRepository:
    """Anthropic's ids of uploaded files; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, owner_id: str, resource_id: str, version: int) -> str | None:
        """Returns the upload id of a version, if any."""
        table = claude_files.c
        mine = (table.owner_id == owner_id, table.resource_id == resource_id, table.version == version)
        rows = await self._database.rows(sa.select(table.file_id).where(*mine))
        return rows[0]["file_id"] if rows else None

    async def keep(self, owner_id: str, resource_id: str, version: int, file_id: str) -> None:
        """Records the upload of a version, replacing an earlier one.

        Raises `NotFound` if the resource is not the owner's.
        """
        changed = {claude_files.c.file_id: file_id, claude_files.c.created_at: time.time()}
        names = {
            claude_files.c.resource_id: resource_id,
            claude_files.c.version: version,
            claude_files.c.owner_id: owner_id,
        }
        mine = sa.select(resources.c.id).where(resources.c.id == resource_id, resources.c.owner_id == owner_id)
        async with self._database.write() as connection:
            if await connection.scalar(mine) is None:
                raise NotFound("The resource does not exist, or you have no access to it.")
            await upsert(connection, {**names, **changed}, changed)

    async def forget(self, owner_id: str, file_id: str) -> None:
        """Removes the record of a deleted upload."""
        mine = sa.and_(claude_files.c.owner_id == owner_id, claude_files.c.file_id == file_id)
        async with self._database.write() as connection:
            await connection.execute(sa.delete(claude_files).where(mine))

    async def all(self, owner_id: str) -> list[str]:
        """Returns the ids of all uploads, oldest first."""
        table = claude_files.c
        query = sa.select(table.file_id).where(table.owner_id == owner_id).order_by(table.created_at, table.file_id)
        return [row["file_id"] for row in await self._database.rows(query)]

    async def orphans(self, owner_id: str) -> list[tuple[str, str]]:
        """Returns resource and upload id of uploads whose resource is deleted or has a newer version."""
        table = claude_files.c
        current = sa.exists().where(resources.c.id == table.resource_id, resources.c.version == table.version)
        query = sa.select(table.resource_id, table.file_id).where(table.owner_id == owner_id, sa.not_(current))
        rows = await self._database.rows(query.order_by(table.created_at))
        return [(row["resource_id"], row["file_id"]) for row in rows]
