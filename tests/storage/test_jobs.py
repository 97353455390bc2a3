"""Leases and fences: a job is worked on by one, owners take turns, and a late write of a lost lease does nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from citewell.errors import LeaseLost
from citewell.settings import load_settings
from citewell.storage.database import Database
from citewell.storage.jobs import JobRepository
from citewell.storage.resources import ResourceRepository, insert_children
from citewell.storage.tables import owners
from citewell.types import Job, Stage, Status
from tests.storage.rows import add_resource, new_resource


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


async def _finish(jobs: JobRepository, job: Job) -> None:
    async with jobs.fenced(job) as connection:
        await jobs.finish(connection, job, Status.EXTRACTED)


async def _names(database: Database) -> dict[str, str]:
    return {row["id"]: row["name"] for row in await database.rows(sa.select(owners))}


async def test_with_one_slot_owners_alternate_whoever_came_first(database: Database) -> None:
    jobs = JobRepository(database)
    for owner, count in (("many", 6), ("few", 3)):
        for _ in range(count):
            await add_resource(database, owner)
    names, served = await _names(database), ""
    while job := await jobs.claim(Stage.EXTRACT, "w"):
        served += names[job.owner_id][0]
        await _finish(jobs, job)
    assert served == "mfmfmfmmm"


async def test_no_owner_has_all_slots_while_another_waits(database: Database) -> None:
    jobs = JobRepository(database)
    for owner in ("ada", "bob", "cho"):
        for _ in range(4):
            await add_resource(database, owner)
    held = [await jobs.claim(Stage.EXTRACT, "w") for _ in range(3)]
    assert len({job.owner_id for job in held if job}) == 3


async def test_two_workers_that_choose_at_once_choose_two_owners(database: Database) -> None:
    jobs = JobRepository(database)
    for _ in range(5):
        for owner in ("ada", "bob"):
            for _ in range(4):
                await add_resource(database, owner)
        held = await asyncio.gather(*(jobs.claim(Stage.EXTRACT, f"w{n}") for n in range(2)))
        assert len({job.owner_id for job in held if job}) == 2
        async with database.write() as connection:
            await connection.execute(sa.delete(owners))


async def test_a_slot_for_newcomers_is_for_owners_who_hold_none(database: Database) -> None:
    jobs = JobRepository(database)
    for _ in range(3):
        await add_resource(database, "ada")
    assert await jobs.claim(Stage.EXTRACT, "w")
    assert await jobs.claim(Stage.EXTRACT, "w", newcomers=True) is None
    bob, resource_id = await add_resource(database, "bob", size=10**9)
    job = await jobs.claim(Stage.EXTRACT, "w", newcomers=True)
    assert job
    assert (job.owner_id, job.resource_id) == (bob, resource_id)
    assert await jobs.claim(Stage.EXTRACT, "w", newcomers=True) is None


async def test_small_files_overtake_large_ones_but_not_for_ever(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = JobRepository(database)
    now = time.time() - 3_600
    monkeypatch.setattr(time, "time", lambda: now)
    _, large = await add_resource(database, "ada", size=50_000_000)
    now += 90
    _, small = await add_resource(database, "ada", size=1_000)
    now += 90
    _, late = await add_resource(database, "ada", size=1_000)
    now += 3_000
    order: list[str] = []
    while job := await jobs.claim(Stage.EXTRACT, "w"):
        order.append(job.resource_id)
    assert order == [small, large, late]


async def test_children_of_an_archive_leave_room_for_what_their_owner_uploads_meanwhile(database: Database) -> None:
    owner_id, archive = await add_resource(database, "ada")
    jobs = JobRepository(database)
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job
    async with jobs.fenced(job) as connection:
        await insert_children(connection, [new_resource(owner_id, parent_id=archive) for _ in range(200)], "")
    _, own = await add_resource(database, "ada")
    order: list[str] = []
    while child := await jobs.claim(Stage.EXTRACT, "w"):
        order.append(child.resource_id)
    assert len(order) == 201
    assert 0 < order.index(own) < 150


async def test_the_next_job_is_found_by_index_among_however_many(database: Database) -> None:
    await add_resource(database, "ada")
    statements: list[tuple[str, Any]] = []

    def note(_c: object, _u: object, statement: str, parameters: Any, _x: object, _m: object) -> None:
        statements.append((statement, parameters))

    jobs = JobRepository(database)
    event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        assert await jobs.claim(Stage.INDEX, "w") is None
        assert await jobs.claim(Stage.EXTRACT, "w")
    finally:
        event.remove(sa.Engine, "before_cursor_execute", note)
    read = [(s, p) for s, p in statements if s.lstrip().startswith(("SELECT", "WITH")) and "resources" in s]
    assert len(read) >= 4
    if not database.is_sqlite:
        return
    async with database.read() as connection:
        for statement, parameters in read:
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row["detail"] for row in plan.mappings()]
            assert not any(step.startswith("SCAN resources") for step in steps), steps
