"""The id that pairs a database with the folder that stores its files."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.database import Database, upsert
from citewell.storage.tables import meta, resource_versions, resources

_NAME = "folder_id"


class FolderIdRepository:
    """Reads and sets the folder id, and checks for files in local folders."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self) -> str | None:
        """Returns the id; None if the database has no folder yet."""
        rows = await self._database.rows(sa.select(meta.c.value).where(meta.c.name == _NAME))
        return rows[0]["value"] if rows else None

    async def set(self, folder_id: str) -> None:
        """Pairs the database with the folder with this id."""
        async with self._database.write() as connection:
            await upsert(connection, {meta.c.name: _NAME, meta.c.value: folder_id}, {meta.c.value: folder_id})

    async def has_local_files(self) -> bool:
        """Whether any row refers to a file in a local folder."""
        query = (
            sa.select(resources.c.id)
            .join(resource_versions, resource_versions.c.resource_id == resources.c.id)
            .where(resources.c.storage_backend == "local", resource_versions.c.blob_key.is_not(None))
            .limit(1)
        )
        return bool(await self._database.rows(query))
