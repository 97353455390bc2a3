"""Projects by id or name: one of each name, the default one stays, and a resource is linked once."""

from __future__ import annotations

import asyncio
import uuid

import pytest
import sqlalchemy as sa

from citewell.errors import Conflict, InvalidInput, InvalidRequest, NotFound, UnnamedProject
from citewell.storage.accounts.owners import DEFAULT_PROJECT, OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository, link
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import projects as table
from tests.storage.estates import new_resource


@pytest.fixture
async def ada(database: Database) -> str:
    return await OwnerRepository(database).ensure("ada")


async def test_a_project_is_found_by_id_and_by_name(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    made = await projects.create(ada, "Loans & Fees", {"chunking": {"strategy": "semantic"}})
    assert await projects.resolve(ada, made.id) == await projects.resolve(ada, "Loans & Fees") == made.id
    assert await projects.get(ada, made.id) == made
    default = await projects.resolve(ada, None)
    assert await projects.resolve(ada, DEFAULT_PROJECT) == default != made.id


@pytest.mark.parametrize("create", [False, True])
async def test_an_empty_name_is_no_project(database: Database, ada: str, create: bool) -> None:
    projects = ProjectRepository(database)
    for empty in ("", " \t"):
        with pytest.raises(UnnamedProject, match="leave it out"):
            await projects.resolve(ada, empty, create=create)


async def test_an_unknown_name_is_refused_or_made(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    with pytest.raises(NotFound, match="'Plans'"):
        await projects.resolve(ada, "Plans")
    made = await projects.resolve(ada, "Plans", create=True)
    assert await projects.resolve(ada, "Plans", create=True) == made


async def test_files_sent_at_once_to_a_new_project_land_in_one(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    ids = await asyncio.gather(*(projects.resolve(ada, "Plans", create=True) for _ in range(8)))
    assert len(set(ids)) == 1


async def test_a_name_is_taken_once(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    outcomes = await asyncio.gather(*(projects.create(ada, "Plans") for _ in range(6)), return_exceptions=True)
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert len(conflicts) == 5
    assert all(isinstance(conflict, Conflict) and "'Plans'" in conflict.message for conflict in conflicts)


async def test_projects_are_listed_oldest_first_with_their_resources_counted(database: Database, ada: str) -> None:
    projects, resources = ProjectRepository(database), ResourceRepository(database)
    plans = await projects.create(ada, "Plans")
    one, _ = await resources.create(new_resource(ada, "one"), plans.id)
    two, _ = await resources.create(new_resource(ada, "two"), plans.id)
    assert [(p.name, p.resource_count) for p in await projects.all(ada)] == [(DEFAULT_PROJECT, 0), ("Plans", 2)]
    assert set(await projects.resource_ids(ada, [plans.id])) == {one.id, two.id}


async def test_settings_are_replaced(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    made = await projects.create(ada, "Plans", {"a": 1, "b": {"ä": None}})
    await projects.change(ada, made.id, {"b": [1.5]})
    assert (await projects.get(ada, made.id)).settings == {"b": [1.5]}
    with pytest.raises(NotFound):
        await projects.change(ada, str(uuid.uuid4()), {})


async def test_a_deleted_project_leaves_its_resources(database: Database, ada: str) -> None:
    projects, resources = ProjectRepository(database), ResourceRepository(database)
    made = await projects.create(ada, "Plans")
    kept, _ = await resources.create(new_resource(ada, "one"), made.id)
    await projects.delete(ada, made.id)
    assert (await resources.get(ada, kept.id)).project_ids == ()
    with pytest.raises(NotFound):
        await projects.get(ada, made.id)
    with pytest.raises(NotFound):
        await projects.delete(ada, made.id)


async def test_the_default_project_stays(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    with pytest.raises(Conflict):
        await projects.delete(ada, await projects.resolve(ada, None))


async def test_linking_twice_is_harmless_also_at_once(database: Database, ada: str) -> None:
    projects, resources = ProjectRepository(database), ResourceRepository(database)
    made = await projects.create(ada, "Plans")
    resource, _ = await resources.create(new_resource(ada, "one"), await projects.resolve(ada, None))

    async def add() -> None:
        async with database.write() as connection:
            await connection.run_sync(link, resource.id, made.id)

    await asyncio.gather(*(add() for _ in range(6)))
    assert await projects.resource_ids(ada, [made.id]) == (resource.id,)


async def test_a_resource_is_not_linked_to_a_project_that_is_not_there(database: Database, ada: str) -> None:
    with pytest.raises(NotFound):
        await ResourceRepository(database).create(new_resource(ada, "one"), str(uuid.uuid4()))
    assert await ResourceRepository(database).counts(ada) == {}


async def test_a_name_is_short(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    for make in (projects.create(ada, "x" * 201), projects.resolve(ada, "x" * 201, create=True)):
        with pytest.raises(InvalidInput):
            await make
    with pytest.raises(UnnamedProject):
        await projects.create(ada, "   ")


async def test_a_name_is_one_project_however_its_letters_are_composed(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    made = await projects.resolve(ada, "Cafe\u0301 ", create=True)
    for spelling in ("Caf\u00e9", "Cafe\u0301", " Caf\u00e9\t"):
        assert await projects.resolve(ada, spelling, create=True) == made
        with pytest.raises(Conflict):
            await projects.create(ada, spelling)
    assert (await projects.get(ada, made)).name == "Caf\u00e9"


@pytest.mark.parametrize("create", [False, True])
async def test_a_name_with_a_null_character_is_refused(database: Database, ada: str, create: bool) -> None:
    with pytest.raises(InvalidRequest, match="null character"):
        await ProjectRepository(database).resolve(ada, "har\x00bour", create=create)


async def test_a_name_of_an_earlier_version_is_still_found(database: Database, ada: str) -> None:
    projects = ProjectRepository(database)
    made = await projects.create(ada, "Caf\u00e9")
    async with database.write() as connection:
        await connection.execute(sa.update(table).where(table.c.id == made.id).values(name="Cafe\u0301"))
    assert await projects.resolve(ada, "Caf\u00e9") == made.id
