"""The amount of text and pictures relative to size, by kind of file, in an owner's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.tables import chunks, resource_blobs, resource_projects, resources

_IMAGE = "image"
MAX_FILES = 40
"""Files measured per kind, newest first."""


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """A file's size in bytes, tokens in its chunks, and number of pictures."""

    extension: str
    size: int
    tokens: int
    pictures: int


class DensityRepository:
    """Measures files; scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def measure(
        self, owner_id: str, extensions: Sequence[str], project_ids: Sequence[str] | None = None
    ) -> list[MeasuredFile]:
        """Measures the newest `MAX_FILES` files per kind with chunks or pictures, optionally within projects."""
        linked = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id.in_(project_ids or ()))
        admitted = sa.true() if project_ids is None else resources.c.id.in_(linked)
        kind = sa.func.citewell_extension(resources.c.filename, type_=sa.Text)
        place = sa.func.row_number().over(partition_by=kind, order_by=resources.c.created_at.desc())
        mine = (
            sa.select(
                resources.c.id,
                resources.c.version,
                resources.c.file_size_bytes.label("size"),
                kind.label("extension"),
                place.label("place"),
            )
            .where(
                resources.c.owner_id == owner_id, kind.in_(extensions), resources.c.indexed_at.is_not(None), admitted
            )
            .where(resources.c.file_size_bytes > 0, resources.c.parent_id.is_(None))
            .subquery("mine")
        )
        tokens = sa.select(sa.func.coalesce(sa.func.sum(chunks.c.token_count), 0)).where(
            chunks.c.resource_id == mine.c.id, chunks.c.version == mine.c.version
        )
        pictures = (
            sa.select(sa.func.count())
            .select_from(resource_blobs)
            .where(
                resource_blobs.c.resource_id == mine.c.id,
                resource_blobs.c.version == mine.c.version,
                resource_blobs.c.kind == _IMAGE,
            )
        )
        query = sa.select(
            mine.c.extension,
            mine.c.size,
            tokens.scalar_subquery().label("tokens"),
            pictures.scalar_subquery().label("pictures"),
        ).where(mine.c.place <= MAX_FILES)
        return [MeasuredFile(**row) for row in await self._database.rows(query)]
