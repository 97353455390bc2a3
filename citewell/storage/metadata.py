"""What people say of their files: metadata, identifiers and threads. Changed together with the work of telling every index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Conflict, NotFound, named
from citewell.metadata import is_day, is_resource_id, kind_of
from citewell.points import keyword
from citewell.storage.database import Database
from citewell.storage.payload_changes import file_facts, metadata_of, note_changes
from citewell.storage.projects import check_identifier_free
from citewell.storage.resources import resource_conditions
from citewell.storage.tables import resource_projects, resources
from citewell.types import FileFacts, Metadata, MetadataKey, MetadataKind, ResourceFilter

_FREQUENT = 50
_MAX_FREQUENT_LENGTH = 80
_MAX_PARAMETERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What to change of a file. `metadata` makes the new metadata of what there is; None leaves a part as it is, and an
    empty identifier or thread removes it."""

    metadata: Callable[[Metadata], Metadata] | None = None
    identifier: str | None = None
    thread: str | None = None


class MetadataRevision(NamedTuple):
    """What tells an owner's metadata from what it was before: changes made here, how many files there are, and when the newest came."""

    changes: int
    files: int
    newest: float | None


class MetadataRepository:
    """Reads and changes it; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes: Counter[str] = Counter()

    async def change(self, owner_id: str, resource_id: str, change: FileChange) -> str | None:
        """Change a file, and note that its payloads are behind: the stamp of that change, None when there was nothing to change.

        Raises `NotFound`, and `Conflict` when another file of one of its projects has the identifier.
        """
        try:
            async with self._database.write() as connection:
                stamp = await self._change(connection, owner_id, resource_id, change)
        except IntegrityError as error:  # on Postgres: another file took the identifier between our look and our update
            raise Conflict(f"Another file of this project is called {named(change.identifier)}.") from error
        self._changes[owner_id] += 1
        return stamp

    async def _change(
        self, connection: AsyncConnection, owner_id: str, resource_id: str, change: FileChange
    ) -> str | None:
        mine = sa.and_(resources.c.id == resource_id, resources.c.owner_id == owner_id)
        row = (await connection.execute(sa.select(resources.c.metadata).where(mine).with_for_update())).first()
        if row is None:
            raise NotFound("There is no such resource, or it is not yours.")
        values: dict[str, Any] = {}
        if change.metadata is not None:
            values["metadata"] = dict(change.metadata(metadata_of(row[0])))
        if change.thread is not None:
            values["thread"] = change.thread or None
        if change.identifier is not None:
            values["identifier"] = change.identifier or None
            await _rename(connection, resource_id, keyword(change.identifier) or None)
        if not values:
            return None
        await connection.execute(sa.update(resources).where(mine).values(**values))
        return (await note_changes(connection, [resource_id]))[resource_id]

    async def resolve(
        self, owner_id: str, names: Sequence[str], project_ids: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """The ids of the owner's files that are given by id or identifier, in order.

        project_ids: where identifiers are looked for; None for everywhere. Raises `NotFound` for a name that no file has, and `Conflict`
        for an identifier that several files have, in different projects.
        """
        found = await self._by_id(owner_id, [name for name in names if is_resource_id(name)])
        other = [name for name in names if name not in found]
        called = await self._by_identifier(owner_id, other, project_ids)
        for name in other:
            holders = called.get(keyword(name), set())
            if not holders:
                raise NotFound(f"There is no file {named(name)}, or it is not yours.")
            if len(holders) > 1:
                raise Conflict(f"Files of several projects are called {named(name)}. Name the project, or give an id.")
        return tuple(name if name in found else next(iter(called[keyword(name)])) for name in names)

    async def revision(self, owner_id: str) -> MetadataRevision:
        """The revision of the owner's metadata, read from an index."""
        query = sa.select(sa.func.count().label("files"), sa.func.max(resources.c.created_at).label("newest"))
        row = (await self._database.rows(query.where(resources.c.owner_id == owner_id)))[0]
        return MetadataRevision(self._changes[owner_id], row["files"], row["newest"])

    async def keys(self, owner_id: str, resource_ids: Sequence[str] | None = None) -> list[MetadataKey]:
        """The metadata keys of the owner's files (of these), with the types of their values and the most frequent texts."""
        query = sa.select(resources.c.id, resources.c.metadata).where(resources.c.owner_id == owner_id)
        if resource_ids is not None and len(resource_ids) <= _MAX_PARAMETERS:
            query = query.where(resources.c.id.in_(resource_ids))
        wanted = None if resource_ids is None else set(resource_ids)
        kinds: dict[str, set[MetadataKind]] = {}
        files: Counter[str] = Counter()
        texts: dict[str, Counter[str]] = {}
        timed: set[str] = set()
        for row in await self._database.rows(query):
            if wanted is None or row["id"] in wanted:
                for key, value in metadata_of(row["metadata"]).items():
                    kind = kind_of(value)
                    files[key] += 1
                    kinds.setdefault(key, set()).add(kind)
                    if kind is MetadataKind.DATE and not is_day(str(value)):
                        timed.add(key)
                    if kind is MetadataKind.TEXT:
                        said = value if isinstance(value, tuple) else (str(value),)
                        texts.setdefault(key, Counter()).update(one for one in said if len(one) <= _MAX_FREQUENT_LENGTH)
        return [
            MetadataKey(
                name=key,
                kinds=frozenset(kinds[key]),
                files=count,
                frequent=tuple(texts[key].most_common(_FREQUENT)) if key in texts else (),
                timed=key in timed,
            )
            for key, count in sorted(files.items(), key=lambda item: (-item[1], item[0]))
        ]

    async def facts(self, owner_id: str, resource_ids: Sequence[str]) -> dict[str, FileFacts]:
        """What filters may use of those of some hundred resources that the owner has."""
        mine = sa.select(resources.c.id).where(resources.c.owner_id == owner_id, resources.c.id.in_(resource_ids))
        return await file_facts(self._database, [row["id"] for row in await self._database.rows(mine)])

    async def all_ids(self, owner_id: str, project_ids: Sequence[str] | None = None) -> list[str]:
        """The ids of the owner's files (in these projects)."""
        query = sa.select(resources.c.id).where(resources.c.owner_id == owner_id)
        if project_ids is not None:
            inside = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id.in_(project_ids))
            query = query.where(resources.c.id.in_(inside))
        return [row["id"] for row in await self._database.rows(query)]

    async def filtered_ids(self, owner_id: str, filter: ResourceFilter) -> tuple[str, ...]:
        """The ids of the owner's files that a filter lets through, newest first."""
        conditions = resource_conditions(filter, self._database.is_sqlite)
        query = sa.select(resources.c.id).where(resources.c.owner_id == owner_id, *conditions)
        rows = await self._database.rows(query.order_by(resources.c.created_at.desc(), resources.c.id))
        return tuple(row["id"] for row in rows)

    async def _by_id(self, owner_id: str, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for start in range(0, len(ids), _MAX_PARAMETERS):
            part = ids[start : start + _MAX_PARAMETERS]
            query = sa.select(resources.c.id).where(resources.c.owner_id == owner_id, resources.c.id.in_(part))
            found |= {row["id"] for row in await self._database.rows(query)}
        return found

    async def _by_identifier(
        self, owner_id: str, names: Sequence[str], project_ids: Sequence[str] | None
    ) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        table = resource_projects
        for start in range(0, len(names), _MAX_PARAMETERS):
            part = [keyword(name) for name in names[start : start + _MAX_PARAMETERS]]
            query = (
                sa.select(table.c.identifier, table.c.resource_id)
                .join(resources, resources.c.id == table.c.resource_id)
                .where(resources.c.owner_id == owner_id, table.c.identifier.in_(part))
            )
            if project_ids is not None:
                query = query.where(table.c.project_id.in_(project_ids))
            for row in await self._database.rows(query):
                found.setdefault(row["identifier"], set()).add(row["resource_id"])
        return found


async def _rename(connection: AsyncConnection, resource_id: str, name: str | None) -> None:
    """Call a resource `name` in all of its projects."""
    table = resource_projects
    linked = sa.select(table.c.project_id).where(table.c.resource_id == resource_id)
    project_ids = list((await connection.execute(linked)).scalars())
    await check_identifier_free(connection, resource_id, project_ids, name)
    await connection.execute(sa.update(table).where(table.c.resource_id == resource_id).values(identifier=name))
