"""The counts that facets are read from agree with counting every file, whatever was done to files, links and projects."""

from __future__ import annotations

import asyncio
import random

import pytest
import sqlalchemy as sa

from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files import facets as facets_module
from citewell.storage.files.facets import FacetRepository
from citewell.storage.files.metadata import FileChange, MetadataRepository
from citewell.storage.files.new_resources import NewResource, insert_children
from citewell.storage.files.projects import ProjectRepository, link
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import FileRoom
from citewell.storage.tables import facet_counts, owners, resource_projects, resources
from citewell.types import Facets, MetadataValue, ResourceFilter
from tests.storage.estates import new_resource

pytestmark = pytest.mark.full

_VALUES: tuple[MetadataValue, ...] = (
    "Straße", "STRASSE", " ", "400", 400, 1.5, True, False, "2025-02-01", "2025-02-01T09:30:00Z",
    ("a", "A", "b"), ("2025-02-01", ""), "x" * 300, "ß" * 300, -3,
)  # fmt: skip
_KEYS = ("camera", "tags", "date", "keywords", "mixed")


def some_metadata(chance: random.Random) -> dict[str, MetadataValue]:
    return {key: chance.choice(_VALUES) for key in _KEYS if chance.random() < 0.6}


class Library:
    """The files of one owner, to be changed at random."""

    def __init__(self, database: Database, owner: str, project_ids: list[str]) -> None:
        self.database, self.owner, self.project_ids = database, owner, project_ids
        self.resources, self.facets = ResourceRepository(database), FacetRepository(database)
        self.metadata, self.projects = MetadataRepository(database), ProjectRepository(database)
        self.made = 0

    async def ids(self) -> list[str]:
        query = sa.select(resources.c.id).where(resources.c.owner_id == self.owner).order_by(resources.c.created_at)
        return [row["id"] for row in await self.database.rows(query)]

    async def change(self, chance: random.Random) -> None:
        """One of the things that happen to files."""
        ids, project = await self.ids(), chance.choice(self.project_ids)
        match chance.choice(["add", "add", "children", "say", "say", "state", "link", "unlink", "delete", "project"]):
            case "children":
                new = [self.new(chance) for _ in range(4)]
                async with self.database.write() as connection:
                    await connection.run_sync(insert_children, new, project, FileRoom())
            case "say" if ids:
                said = some_metadata(chance)
                await self.metadata.change(self.owner, chance.choice(ids), FileChange(metadata=lambda _: said))
            case "state" if ids:
                stated = chance.choice([{}, {"created": "2025-01-31"}, {"keywords": "Night; harbour"}])
                await self._execute(
                    sa.update(resources).where(resources.c.id == chance.choice(ids)).values(extraction_metadata=stated)
                )
            case "link" if ids:
                async with self.database.write() as connection:
                    await connection.run_sync(link, chance.choice(ids), project)
            case "unlink" if ids:
                wanted = resource_projects.c.resource_id == chance.choice(ids)
                await self._execute(sa.delete(resource_projects).where(wanted))
            case "delete" if ids:
                await self.resources.delete(self.owner, chance.choice(ids))
            case "project" if chance.random() < 0.3:
                await self.projects.delete(self.owner, project)
                self.project_ids.remove(project)
                self.made += 1
                self.project_ids.append((await self.projects.create(self.owner, f"new {self.made}")).id)
            case _:
                await self.resources.create(self.new(chance), project)

    async def kept(self, project_id: str | None, *, by_year: bool = False) -> Facets:
        wanted = ResourceFilter(project_ids=None if project_id is None else (project_id,))
        return await self.facets.facets(self.owner, wanted, 200, by_year=by_year)

    async def counted(self, project_id: str | None, *, by_year: bool = False) -> Facets:
        """The same, counted from the files themselves: a filter that names all of them is not looked up."""
        wanted = ResourceFilter(project_ids=None if project_id is None else (project_id,), ids=tuple(await self.ids()))
        return await self.facets.facets(self.owner, wanted, 200, by_year=by_year)

    async def assert_right(self) -> None:
        for project_id in (None, *self.project_ids):
            assert await self.kept(project_id) == await self.counted(project_id)
        assert await self.kept(None, by_year=True) == await self.counted(None, by_year=True)

    async def _execute(self, statement: sa.Update | sa.Delete) -> None:
        async with self.database.write() as connection:
            await connection.execute(statement)

    def new(self, chance: random.Random) -> NewResource:
        self.made += 1
        return new_resource(self.owner, f"{self.owner} {self.made}", metadata=some_metadata(chance))


@pytest.fixture
async def library(database: Database) -> Library:
    owner = await OwnerRepository(database).ensure("ada")
    projects = ProjectRepository(database)
    return Library(database, owner, [await projects.resolve(owner, name, create=True) for name in ("Default", "Other")])


async def test_after_any_changes_the_counts_are_those_of_the_files(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(11)
    monkeypatch.setattr(facets_module, "_MAX_APART", 60)  # so that changes are summed up in between on Postgres
    for turn in range(8):
        for _ in range(15):
            await library.change(chance)
        await library.assert_right()
        if turn == 0:
            assert {facet.field for facet in (await library.kept(None)).fields} >= {"tag", "date", "metadata.camera"}


async def test_changes_of_the_same_files_at_once_leave_the_counts_right(library: Library) -> None:
    chance = random.Random(5)
    for _ in range(6):
        await library.resources.create(library.new(chance), library.project_ids[0])
    ids = await library.ids()

    async def say(id: str) -> None:
        said = some_metadata(chance)
        await library.metadata.change(library.owner, id, FileChange(metadata=lambda _: said))

    async def move(id: str) -> None:
        async with library.database.write() as connection:
            await connection.run_sync(link, id, library.project_ids[1])

    await asyncio.gather(*(do(file) for _ in range(4) for file in ids for do in (say, move)), library.kept(None))
    await library.assert_right()


async def test_what_no_file_says_any_more_is_neither_the_least_nor_the_greatest(library: Library) -> None:
    await library.resources.create(library.new(random.Random(2)), library.project_ids[0])
    (file,) = await library.ids()
    for said in ("2025-02-01T09:30:00Z", "2025-02-01", "2025-02-03", "2025-02-02"):
        await library.metadata.change(library.owner, file, FileChange(metadata=lambda _, said=said: {"shot": said}))
        await library.assert_right()


async def test_a_change_that_is_not_committed_is_not_counted(library: Library) -> None:
    await library.resources.create(library.new(random.Random(2)), library.project_ids[0])
    before = await library.kept(None)

    async def interrupted() -> None:
        async with library.database.write() as connection:
            await connection.execute(sa.update(resources).values(metadata={"camera": "other"}))
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        await interrupted()
    assert await library.kept(None) == before


async def test_of_an_owner_who_is_gone_no_count_is_left(library: Library) -> None:
    for _ in range(3):
        await library.resources.create(library.new(random.Random(2)), library.project_ids[0])
    async with library.database.write() as connection:
        await connection.execute(sa.delete(owners).where(owners.c.id == library.owner))
    assert not await library.database.rows(sa.select(facet_counts))
