"""Projects: named sets of an owner's resources."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from citewell.errors import Conflict, InvalidInput, InvalidRequest, NotFound, UnnamedProject, named
from citewell.ports.points import keyword
from citewell.storage.accounts.owners import DEFAULT_PROJECT
from citewell.storage.database import Database, insert_new
from citewell.storage.files.contained import with_contained
from citewell.storage.lookups import Prepared
from citewell.storage.tables import projects, resource_projects, resources
from citewell.storage.work.payload_changes import note_changes
from citewell.types import Project, Scope, Status
from citewell.types.names import composed_name, name_spellings

MAX_NAME = 200
"""Maximum characters in a project name."""
# Compiled once, because every file runs them.
_NAMED = Prepared(
    sa.select(projects.c.id, projects.c.name).where(
        projects.c.owner_id == sa.bindparam("owner"),
        sa.or_(
            *(column == sa.bindparam("wanted") for column in (projects.c.id, projects.c.name)),
            *(projects.c.name == sa.bindparam(spelling) for spelling in ("given", "decomposed")),
        ),
    )
)
_SETTINGS = Prepared(
    sa.select(projects.c.settings).where(
        projects.c.id == sa.bindparam("project"), projects.c.owner_id == sa.bindparam("owner")
    )
)


class ProjectCount(NamedTuple):
    """How many resources of one status a project has, and their size in bytes."""

    project_id: str
    status: Status
    files: int
    bytes: int


class ProjectRepository:
    """Projects by id or name; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def resolve(self, owner_id: str, id_or_name: str | None, create: bool = False) -> str:
        """Returns the id of a project given by id or name; None means the default project.

        With `create`, an unknown name creates a project. Names match regardless of Unicode composition and surrounding
        whitespace. Raises `NotFound`, `InvalidRequest` for a null character, and otherwise as `create`.
        """
        UnnamedProject.check(id_or_name)
        given = DEFAULT_PROJECT if id_or_name is None else id_or_name
        _refuse_null(given)
        wanted, *earlier = name_spellings(given)
        found = await self._database.fetch(
            _NAMED, owner=owner_id, wanted=wanted, given=given, decomposed=earlier[-1] if earlier else wanted
        )
        if found:  # more than one only if an earlier version stored a name in several compositions
            return min(found, key=lambda row: row["name"] != given)["id"]
        if not create:
            raise NotFound(f"There is no project called {named(wanted)}.")
        try:
            return (await self.create(owner_id, wanted)).id
        except Conflict:  # another request created it just now
            return await self.resolve(owner_id, wanted)

    async def resolve_all(self, owner_id: str, ids_or_names: Sequence[str]) -> tuple[str, ...]:
        """Returns the distinct ids of projects given by id or name. Raises `NotFound`."""
        return tuple(dict.fromkeys([await self.resolve(owner_id, one) for one in ids_or_names]))

    async def create(self, owner_id: str, name: str, settings: dict[str, Any] | None = None) -> Project:
        """Creates a project.

        Raises `Conflict` if the name is taken, `UnnamedProject` if it is empty, and `InvalidInput` if it is too long.
        """
        UnnamedProject.check(name)
        _refuse_null(name)
        name = composed_name(name)
        if len(name) > MAX_NAME:
            raise InvalidInput(f"A project name can have at most {MAX_NAME} characters.")
        project = Project(
            id=str(uuid.uuid4()), owner_id=owner_id, name=name, created_at=time.time(), settings=settings or {}
        )
        async with self._database.write() as connection:
            made = insert_new(connection, projects).values(
                id=project.id,
                owner_id=owner_id,
                name=name,
                created_at=project.created_at,
                settings=project.settings,
            )
            if not (await connection.execute(made)).rowcount:
                raise Conflict(f"There is already a project called {named(name)}.")
        return project

    async def all(self, owner_id: str) -> list[Project]:
        """Returns the owner's projects, oldest first, with the number of resources in each."""
        count = (
            sa.select(sa.func.count())
            .where(resource_projects.c.project_id == projects.c.id)
            .scalar_subquery()
            .label("resource_count")
        )
        query = sa.select(projects, count).where(projects.c.owner_id == owner_id).order_by(projects.c.created_at)
        async with self._database.read() as connection:
            return [Project(**row) for row in (await connection.execute(query)).mappings()]

    async def get(self, owner_id: str, project_id: str) -> Project:
        """Returns one project. Raises `NotFound` if it is not the owner's."""
        for project in await self.all(owner_id):
            if project.id == project_id:
                return project
        raise NotFound

    async def settings(self, owner_id: str, project_id: str) -> dict[str, Any]:
        """Returns a project's settings, without counting its resources. Raises `NotFound` if it is not the owner's."""
        for row in await self._database.fetch(_SETTINGS, owner=owner_id, project=project_id):
            return row["settings"]
        raise NotFound

    async def chosen_indexes(self, owner_id: str) -> dict[str, str]:
        """Returns, by project id, the index chosen by each of the owner's projects that has one."""
        query = sa.select(projects.c.id, projects.c.settings).where(projects.c.owner_id == owner_id)
        rows = await self._database.rows(query)
        return {row["id"]: row["settings"]["index"] for row in rows if row["settings"].get("index")}

    async def change(self, owner_id: str, project_id: str, settings: dict[str, Any]) -> None:
        """Replaces a project's settings. Raises `NotFound` if it is not the owner's."""
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.update(projects)
                .where(projects.c.id == project_id, projects.c.owner_id == owner_id)
                .values(settings=settings)
            )
        if not done.rowcount:
            raise NotFound

    async def delete(self, owner_id: str, project_id: str) -> None:
        """Deletes a project, but not its resources. Raises `Conflict` for the default project."""
        project = await self.get(owner_id, project_id)
        if project.name == DEFAULT_PROJECT:
            raise Conflict("The default project cannot be deleted.")
        async with self._database.write() as connection:
            inside = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id == project_id)
            await connection.run_sync(note_changes, list((await connection.execute(inside)).scalars()))
            await connection.execute(
                sa.delete(projects).where(projects.c.id == project_id, projects.c.owner_id == owner_id)
            )

    async def add(self, owner_id: str, project_id: str, resource_id: str) -> None:
        """Adds a resource, with the files inside it, to a project. Raises `NotFound` and `Conflict` like `link`."""
        await self.settings(owner_id, project_id)
        ids = await with_contained(self._database, owner_id, [resource_id])

        def write(connection: sa.Connection) -> None:
            if added := [one for one in ids if link(connection, one, project_id)]:
                note_changes(connection, added)

        await self._database.change(write)

    async def remove(self, owner_id: str, project_id: str, resource_id: str) -> bool:
        """Removes a resource, with the files inside it, from a project; False if it was not there. The files stay."""
        await self.settings(owner_id, project_id)
        ids = await with_contained(self._database, owner_id, [resource_id])
        table = resource_projects.c
        there = sa.and_(table.project_id == project_id, table.resource_id.in_(ids))

        def write(connection: sa.Connection) -> bool:
            inside = connection.scalars(sa.select(table.resource_id).where(there)).all()
            if resource_id not in inside:
                return False
            connection.execute(sa.delete(resource_projects).where(there))
            note_changes(connection, inside)
            return True

        return await self._database.change(write)

    async def counts(self, owner_id: str, project_id: str | None = None) -> list[ProjectCount]:
        """Returns how many resources of each status the owner's projects, or one of them, have, and their bytes."""
        query = (
            sa.select(
                resource_projects.c.project_id,
                resources.c.status,
                sa.func.count().label("files"),
                sa.func.sum(resources.c.file_size_bytes).label("bytes"),
            )
            .join(resources, resources.c.id == resource_projects.c.resource_id)
            .join(projects, projects.c.id == resource_projects.c.project_id)
            .where(projects.c.owner_id == owner_id)
            .group_by(resource_projects.c.project_id, resources.c.status)
        )
        if project_id is not None:
            query = query.where(projects.c.id == project_id)
        return [
            ProjectCount(row["project_id"], Status(row["status"]), row["files"], int(row["bytes"]))
            for row in await self._database.rows(query)
        ]

    async def resource_ids(self, owner_id: str, project_ids: Sequence[str]) -> tuple[str, ...]:
        """Returns the distinct ids of the resources in these projects of the owner."""
        query = (
            sa.select(resource_projects.c.resource_id)
            .distinct()
            .join(projects, projects.c.id == resource_projects.c.project_id)
            .where(projects.c.id.in_(project_ids), projects.c.owner_id == owner_id)
        )
        return tuple(row["resource_id"] for row in await self._database.rows(query))

    async def named_within(self, owner_id: str, scope: Scope) -> tuple[str, ...] | None:
        """Returns the resources that a scope names, and files inside them, within its projects; None if it names none.

        As in a search. Resources selected by filters are not expanded. Raises `NotFound` for an unknown project.
        """
        if scope.resource_ids is None:
            return None
        named = scope.resource_ids
        if not scope.filters:
            named = await with_contained(self._database, owner_id, named)
        if scope.project_ids is None:
            return named
        inside = set(await self.resource_ids(owner_id, await self.resolve_all(owner_id, scope.project_ids)))
        return tuple(one for one in named if one in inside)


def _refuse_null(name: str) -> None:
    if "\x00" in name:  # databases cannot store it, or cannot compare it
        raise InvalidRequest("The project name contains a null character. Remove it.")


def link(connection: sa.Connection, resource_id: str, project_id: str) -> bool:
    """Links a resource to a project of its owner, inside the caller's transaction; False if it already was.

    Raises `NotFound` if the owner has no such project, and `Conflict` if another file there has the resource's
    identifier.
    """
    table = resource_projects
    same_owner = sa.select(resources.c.identifier).where(
        projects.c.id == project_id, resources.c.id == resource_id, projects.c.owner_id == resources.c.owner_id
    )
    found = connection.execute(same_owner).first()
    if found is None:
        raise NotFound("The project does not exist, or you have no access to it.")
    there = sa.select(table.c.project_id).where(table.c.resource_id == resource_id, table.c.project_id == project_id)
    if connection.scalar(there) is not None:
        return False
    name = keyword(found[0]) if found[0] else None
    check_identifier_free(connection, resource_id, [project_id], name)
    new = insert_new(connection, table).values(resource_id=resource_id, project_id=project_id, identifier=name)
    if connection.execute(new).rowcount:
        return True
    # A concurrent request added the same link or took the identifier.
    check_identifier_free(connection, resource_id, [project_id], name)
    return False


def check_identifier_free(
    connection: sa.Connection, resource_id: str, project_ids: Sequence[str], name: str | None
) -> None:
    """Raises `Conflict` if another resource in one of these projects has the identifier (casefolded)."""
    table = resource_projects
    if name is None or not project_ids:
        return
    holder = connection.scalar(
        sa.select(table.c.resource_id).where(
            table.c.project_id.in_(project_ids),
            table.c.identifier.in_(name_spellings(name)),
            table.c.resource_id != resource_id,
        )
    )
    if holder is not None:
        raise Conflict(
            f"Another file in this project is called {named(name)}. Choose another identifier.", resource_id=holder
        )
