"""What finds pictures by an example, and where the pictures are in their files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass

import orjson
import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.files.file_filters import owner_column, resource_conditions
from citewell.storage.files.likeness_tables import picture_likenesses
from citewell.storage.lookups import unindexed
from citewell.storage.tables import elements, resources
from citewell.types import Category, Element, ElementType, OriginalPicture, ResourceFilter

_FILES = 50
"""Files whose pictures are read at a time."""
_table = picture_likenesses


@dataclass(frozen=True, slots=True)
class PictureKey:
    """A picture: its file, and the name of its blob or, if the file is the picture, of its element."""

    resource_id: str
    name: str


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture with its file's name and the element that shows it first."""

    key: PictureKey
    filename: str
    element: Element

    @property
    def original(self) -> OriginalPicture:
        """Where its bytes are."""
        return OriginalPicture(self.key.resource_id, self.element.blob)


def replace_likenesses(connection: sa.Connection, resource_id: str, version: int, found: Mapping[str, bytes]) -> None:
    """Keeps what finds the pictures of a file's newest version, by name, inside the caller's transaction."""
    connection.execute(sa.delete(_table).where(_table.c.resource_id == resource_id))
    rows = [{"resource_id": resource_id, "version": version, "name": name, "data": found[name]} for name in found]
    if rows:
        connection.execute(sa.insert(_table), rows)


@dataclass(frozen=True, slots=True)
class LikenessRepository:
    """Reads what the parser process kept of pictures; the owner is part of every query."""

    database: Database

    async def of(self, owner_id: str, resource_id: str, name: str | None) -> bytes | None:
        """What was kept of one picture: by its blob's name, or (None) of the file, if it is a picture."""
        query = (
            sa.select(_table.c.data)
            .join(resources, resources.c.id == _table.c.resource_id)
            .where(_table.c.resource_id == resource_id, unindexed(resources.c.owner_id) == owner_id)
            .order_by(_table.c.name)
            .limit(1)
        )
        is_file = resources.c.detected_category == Category.IMAGE.value
        rows = await self.database.rows(query.where(is_file if name is None else _table.c.name == name))
        return rows[0]["data"] if rows else None

    async def newest(
        self, owner_id: str, narrowed: ResourceFilter
    ) -> AsyncGenerator[Sequence[tuple[PictureKey, bytes]]]:
        """Yields what was kept of the owner's pictures, newest files first. Raises `InvalidFilter` for a filter on passages."""
        where = resource_conditions(narrowed, self.database.is_sqlite)
        query = (
            sa.select(resources.c.id)
            .where(owner_column(narrowed) == owner_id, *where)
            .where(resources.c.id.in_(sa.select(_table.c.resource_id)))
            .order_by(resources.c.created_at.desc(), resources.c.id)
        )
        ids = [row["id"] for row in await self.database.rows(query)]
        for start in range(0, len(ids), _FILES):
            some = sa.select(_table.c.resource_id, _table.c.name, _table.c.data).where(
                _table.c.resource_id.in_(ids[start : start + _FILES])
            )
            yield [(PictureKey(row["resource_id"], row["name"]), row["data"]) for row in await self.database.rows(some)]

    async def placed(self, owner_id: str, keys: Collection[PictureKey]) -> dict[PictureKey, PlacedPicture]:
        """Where these pictures are; without those deleted since."""
        named = {(key.resource_id, key.name): key for key in keys}
        found: dict[PictureKey, PlacedPicture] = {}
        for resource_id, filename, _, element in await self._shown(owner_id, {key.resource_id for key in keys}):
            key = named.get((resource_id, element.blob or "")) or named.get((resource_id, element.id))
            if key is not None:
                found.setdefault(key, PlacedPicture(key, filename, element))
        return found

    async def beside(
        self, owner_id: str, places: Collection[tuple[str, int, int]]
    ) -> dict[tuple[str, int, int], list[PlacedPicture]]:
        """The pictures within or next to these passages: (resource, first element, last element)."""
        shown = await self._shown(owner_id, {place[0] for place in places})
        found: dict[tuple[str, int, int], list[PlacedPicture]] = {}
        for place in places:
            resource_id, first, last = place
            for its, filename, is_picture, element in shown:
                at = int(element.id[1:])
                if its == resource_id and (is_picture or (element.blob and first - 1 <= at <= last + 1)):
                    key = PictureKey(resource_id, element.blob or element.id)
                    found.setdefault(place, []).append(PlacedPicture(key, filename, element))
        return found

    async def _shown(self, owner_id: str, resource_ids: Collection[str]) -> list[tuple[str, str, bool, Element]]:
        """The pictures of files: (resource, file name, whether the file is a picture, element)."""
        query = (
            sa.select(elements.c.data, elements.c.resource_id, resources.c.filename, resources.c.detected_category)
            .join(
                resources,
                sa.and_(resources.c.id == elements.c.resource_id, resources.c.version == elements.c.version),
            )
            .where(
                elements.c.resource_id.in_(sorted(resource_ids)),
                elements.c.type == ElementType.IMAGE.value,
                unindexed(resources.c.owner_id) == owner_id,
            )
            .order_by(elements.c.resource_id, elements.c.ordinal)
        )
        return [
            (
                row["resource_id"],
                row["filename"],
                row["detected_category"] == Category.IMAGE,
                Element.from_json(orjson.loads(row["data"])),
            )
            for row in await self.database.rows(query)
        ]
