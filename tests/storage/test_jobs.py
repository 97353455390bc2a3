"""Leases and fences: a job is worked on by one, owners take turns, and a late write of a lost lease does nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from citewell.errors import LeaseLost
from citewell.settings import load_settings
from citewell.storage.database import Database
from citewell.storage.jobs import JobRepository
from citewell.storage.resources import ResourceRepository
from citewell.storage.tables import owners
from citewell.types import Stage, Status
from tests.storage.rows import add_resource


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        opened = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    else:
        opened = Database(load_settings(database_url=request.getfixturevalue("postgres")).sql_url)
    await opened.migrate()
    async with opened.write() as connection:
        await connection.execute(sa.delete(owners))
    yield opened
    await opened.close()


async def test_a_resource_is_leased_to_one_worker_only(database: Database) -> None:
    jobs = JobRepository(database)
    for _ in range(5):
        await add_resource(database, "ada")
    claimed = await asyncio.gather(*(jobs.claim(Stage.EXTRACT, f"w{n}") for n in range(12)))
    ids = [job.resource_id for job in claimed if job]
    assert len(ids) == len(set(ids)) == 5


async def test_owners_take_turns(database: Database) -> None:
    jobs = JobRepository(database)
    many = {(await add_resource(database, "many"))[0] for _ in range(20)}
    few = {(await add_resource(database, "few"))[0] for _ in range(2)}
    first_four = [await jobs.claim(Stage.EXTRACT, "w") for _ in range(4)]
    owners = [job.owner_id for job in first_four if job]
    assert sum(owner in few for owner in owners) == 2
    assert sum(owner in many for owner in owners) == 2


async def test_an_expired_lease_is_taken_over_and_the_late_writer_is_fenced_off(database: Database) -> None:
    owner_id, resource_id = await add_resource(database, "ada")
    slow = JobRepository(database, lease_seconds=-1)
    first = await slow.claim(Stage.EXTRACT, "slow")
    second = await JobRepository(database).claim(Stage.EXTRACT, "quick")
    assert first
    assert second
    assert second.fence > first.fence
    with pytest.raises(LeaseLost):
        async with slow.fenced(first) as connection:
            await slow.finish(connection, first, Status.FAILED)
    with pytest.raises(LeaseLost):
        await slow.renew(first)
    async with slow.fenced(second) as connection:
        await slow.finish(connection, second, Status.EXTRACTED)
    assert (await ResourceRepository(database).get(owner_id, resource_id)).status is Status.EXTRACTED


async def test_a_deleted_resource_ends_its_job(database: Database) -> None:
    jobs = JobRepository(database)
    owner_id, resource_id = await add_resource(database, "ada")
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job
    await ResourceRepository(database).delete(owner_id, resource_id)
    with pytest.raises(LeaseLost):
        await jobs.renew(job)


async def test_a_retry_waits_its_time_and_counts_as_an_attempt(database: Database) -> None:
    jobs = JobRepository(database)
    await add_resource(database, "ada")
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job
    await jobs.retry_later(job, 60, "crashed")
    assert await jobs.claim(Stage.EXTRACT, "w") is None
    assert await jobs.waiting() == 1


async def test_a_death_of_the_process_is_no_attempt_but_is_counted(database: Database) -> None:
    jobs = JobRepository(database)
    await add_resource(database, "ada")
    for deaths in range(4):
        job = await jobs.claim(Stage.EXTRACT, "w")
        assert job
        assert (job.attempt, job.deaths) == (1, deaths)
        assert await jobs.release_all() == 1
