"""Leases and fences: a job is worked on by one, owners take turns, and a late write of a lost lease does nothing."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from citewell.errors import LeaseLost
from citewell.storage.database import Database
from citewell.storage.files.events import EventRepository
from citewell.storage.files.new_resources import insert_children
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import FileRoom
from citewell.storage.tables import owners, resources
from citewell.storage.work.jobs import MAX_SHORT_BYTES, MAX_SHORT_BYTES_TOGETHER, JobRepository
from citewell.types import Job, Stage, Status, UploadOptions
from tests.storage.rows import add_resource, new_resource


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
            await connection.run_sync(slow.finish, first, Status.FAILED)
    with pytest.raises(LeaseLost):
        await slow.renew(first)
    async with slow.fenced(second) as connection:
        await connection.run_sync(slow.finish, second, Status.EXTRACTED)
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
        await connection.run_sync(jobs.finish, job, Status.EXTRACTED)


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
        await connection.run_sync(
            insert_children, [new_resource(owner_id, parent_id=archive) for _ in range(200)], "", FileRoom()
        )
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


async def _set(database: Database, resource_id: str, **values: Any) -> None:
    async with database.write() as connection:
        await connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(**values))


async def test_a_lease_that_is_renewed_is_not_taken_over(database: Database) -> None:
    await add_resource(database, "ada")
    jobs = JobRepository(database, lease_seconds=-1)
    job = await jobs.claim(Stage.EXTRACT, "slow")
    assert job
    await JobRepository(database).renew(job)
    assert await jobs.claim(Stage.EXTRACT, "quick") is None


async def test_a_stage_takes_only_what_waits_for_it(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    jobs = JobRepository(database)
    assert await jobs.claim(Stage.INDEX, "w") is None
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job
    assert (job.resource_id, job.owner_id, job.version, job.attempt) == (resource_id, owner, 1, 1)
    async with jobs.fenced(job) as connection:
        await connection.run_sync(jobs.finish, job, Status.EXTRACTED, {"elements": 3}, extracted_at=5.0)
    assert await jobs.claim(Stage.EXTRACT, "w") is None
    following = await jobs.claim(Stage.INDEX, "w")
    assert following
    assert (following.attempt, following.deaths) == (1, 0)
    assert (await ResourceRepository(database).get(owner, resource_id)).extracted_at == 5.0
    timeline = await EventRepository(database).since(resource_id)
    assert [event["status"] for event in timeline] == ["uploaded", "extracting", "extracted", "indexing"]
    assert timeline[2]["elements"] == 3


async def test_a_write_that_fails_keeps_the_lease(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    jobs = JobRepository(database)
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job

    async def finish_and_fail() -> None:
        async with jobs.fenced(job) as connection:
            await connection.run_sync(jobs.finish, job, Status.EXTRACTED)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await finish_and_fail()
    assert (await ResourceRepository(database).get(owner, resource_id)).status is Status.EXTRACTING
    await jobs.renew(job)


async def test_only_the_leases_of_the_worker_that_is_gone_are_given_back(database: Database) -> None:
    for _ in range(2):
        await add_resource(database, "ada")
    jobs = JobRepository(database)
    gone, alive = await jobs.claim(Stage.EXTRACT, "gone"), await jobs.claim(Stage.EXTRACT, "alive")
    assert gone
    assert alive
    assert await jobs.release_all("gone", died=False) == 1
    await jobs.renew(alive)
    with pytest.raises(LeaseLost):
        await jobs.renew(gone)
    again = await jobs.claim(Stage.EXTRACT, "next")
    assert again
    assert (again.resource_id, again.attempt, again.deaths) == (gone.resource_id, 1, 0)


@pytest.mark.parametrize(
    ("status", "extracted", "requeued", "restarted"),
    [
        (Status.UPLOADED, False, False, False),
        (Status.INDEXED, True, True, False),
        (Status.PARTIAL, True, True, False),
        (Status.STORED, True, False, False),
        (Status.FAILED, True, False, True),
        (Status.FAILED, False, False, True),
    ],
)
async def test_what_can_be_indexed_or_read_again(
    database: Database, status: Status, extracted: bool, requeued: bool, restarted: bool
) -> None:
    jobs, kept = JobRepository(database), ResourceRepository(database)
    owner, resource_id = await add_resource(database, "ada")
    failed = {
        "error_code": "corrupt",
        "error_message": "broken",
        "attempt": 3,
        "deaths": 2,
        "not_before": time.time() + 60,
    }
    await _set(database, resource_id, status=status, extracted_at=1.0 if extracted else None, **failed)
    assert await jobs.requeue(owner, resource_id) is requeued
    found = await kept.get(owner, resource_id)
    assert found.status is (Status.EXTRACTED if requeued else status)
    assert found.error_code == (None if requeued else "corrupt")
    await _set(database, resource_id, status=status, error_code="corrupt")
    assert await jobs.restart(owner, resource_id, UploadOptions(password="opens it")) is restarted
    found = await kept.get(owner, resource_id)
    assert found.status is (Status.UPLOADED if restarted else status)
    assert found.error_code == (None if restarted else "corrupt")
    assert found.options.password == ("opens it" if restarted else None)
    if restarted:
        job = await jobs.claim(Stage.EXTRACT, "w")
        assert job
        assert (job.attempt, job.deaths) == (1, 0)


async def test_work_under_way_is_fenced_off_when_its_resource_is_sent_through_again(database: Database) -> None:
    jobs = JobRepository(database)
    owner, resource_id = await add_resource(database, "ada")
    await _set(database, resource_id, status=Status.EXTRACTED, extracted_at=1.0)
    job = await jobs.claim(Stage.INDEX, "w")
    assert job
    assert await jobs.requeue(owner, resource_id)
    with pytest.raises(LeaseLost):
        await jobs.renew(job)
    assert await jobs.claim(Stage.INDEX, "w")


async def test_what_is_neither_finished_nor_given_up_is_waiting(database: Database) -> None:
    jobs = JobRepository(database)
    ids = [(await add_resource(database, "ada"))[1] for _ in range(4)]
    for resource_id, status in zip(ids, (Status.INDEXED, Status.FAILED, Status.EXTRACTED), strict=False):
        await _set(database, resource_id, status=status)
    assert await jobs.waiting() == 2


async def test_short_texts_of_one_owner_are_leased_together_within_limits(database: Database) -> None:
    jobs = JobRepository(database)
    mine = {(await add_resource(database, "ada", size=1_000))[1] for _ in range(5)}
    await add_resource(database, "ada", size=MAX_SHORT_BYTES + 1)
    await add_resource(database, "eve", size=1_000)
    first = await jobs.claim(Stage.EXTRACT, "w")
    assert first
    assert first.is_short
    more = await jobs.claim_short(first, 3)
    assert {first.owner_id} == {job.owner_id for job in more}
    assert len({job.resource_id for job in (first, *more)} & mine) == 4
    assert all(job.is_short and job.attempt == 1 for job in more)
    for _ in range(2):
        for size in (MAX_SHORT_BYTES, MAX_SHORT_BYTES - 1):
            for _ in range(4):
                await add_resource(database, "ada", size=size)
    assert len(await jobs.claim_short(first, 31)) <= MAX_SHORT_BYTES_TOGETHER // (MAX_SHORT_BYTES - 1) + 1


async def test_a_text_tried_before_is_read_alone(database: Database) -> None:
    jobs = JobRepository(database)
    await add_resource(database, "ada")
    first = await jobs.claim(Stage.EXTRACT, "w")
    assert first
    await jobs.retry_later(first, -1.0, "parser_crashed")
    again = await jobs.claim(Stage.EXTRACT, "w")
    assert again
    assert not again.is_short
    assert await jobs.claim_short(first, 31) == []


async def test_of_several_jobs_those_whose_leases_are_lost_change_nothing(database: Database) -> None:
    jobs = JobRepository(database)
    owner_id, deleted = await add_resource(database, "ada")
    for _ in range(2):
        await add_resource(database, "ada")
    claimed = [job for _ in range(3) if (job := await jobs.claim(Stage.EXTRACT, "w"))]
    await ResourceRepository(database).delete(owner_id, deleted)

    def finish(connection: sa.Connection, held: set[str]) -> set[str]:
        ended = [(job, {"chunk_count": 2}, {"chunks": 2}) for job in claimed if job.resource_id in held]
        jobs.finish_all(connection, ended, Status.INDEXED)
        return held

    held = await jobs.change_all(claimed, finish)
    assert held == {job.resource_id for job in claimed} - {deleted}
    for one in held:
        resource = await ResourceRepository(database).get(owner_id, one)
        assert (resource.status, resource.chunk_count) == (Status.INDEXED, 2)
        events = await EventRepository(database).since(one)
        assert [event["status"] for event in events] == ["uploaded", "extracting", "indexed"]
        assert events[-1]["chunks"] == 2
    with pytest.raises(LeaseLost):
        await jobs.renew(*(job for job in claimed if job.resource_id == deleted))


async def test_the_longest_wait_of_each_stage_and_the_errors_are_known(database: Database) -> None:
    jobs = JobRepository(database)
    assert await jobs.queue_ages() == dict.fromkeys(Stage, 0.0)
    now, changed = time.time(), sa.update(resources)
    ids = [(await add_resource(database, "ada"))[1] for _ in range(5)]
    states: list[dict[str, Any]] = [
        {"status": Status.UPLOADED, "due": now - 50},
        {"status": Status.UPLOADED, "due": now - 90, "lease_until": now + 60},
        {"status": Status.EXTRACTED, "due": now - 30},
        {"status": Status.EMBEDDING, "due": now - 3_600, "indexed_at": now - 20},
        {"status": Status.FAILED, "error_code": "corrupt_file"},
    ]
    async with database.write() as connection:
        for one, state in zip(ids, states, strict=True):
            await connection.execute(changed.where(resources.c.id == one).values(**state))
    ages = {stage: round(seconds, -1) for stage, seconds in (await jobs.queue_ages()).items()}
    assert ages == {Stage.EXTRACT: 50, Stage.INDEX: 30, Stage.EMBED: 20}
    assert await jobs.by_error() == {"corrupt_file": 1}
