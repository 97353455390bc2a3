"""What comes of a stage that fails: tried again where that can help, ended with its reason at once where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa

from citewell.errors import ExtractionError, LeaseLost, ParserCrashed, ParserOutOfMemory
from citewell.ingest.embedding import EmbeddingStage
from citewell.ingest.extraction import ExtractionStage
from citewell.ingest.indexing import IndexingStage
from citewell.ingest.workers import WorkerLimits, Workers
from citewell.storage.database import Database
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.storage.work.jobs import JobRepository
from citewell.types import Job, Stage, Status
from tests.storage.rows import add_resource


class _Failing:
    """A stage that always ends in the same error, and counts."""

    def __init__(self, error: ExtractionError) -> None:
        self.error = error
        self.runs = 0

    async def run(self, job: Job) -> None:
        self.runs += 1
        raise self.error


@pytest.mark.parametrize(("error", "runs"), [(ParserOutOfMemory(), 1), (ParserCrashed(), 3)])
async def test_running_out_of_memory_is_not_tried_again_at_full_size(
    tmp_path: Path, error: ExtractionError, runs: int
) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    owner_id, resource_id = await add_resource(database, "ada")
    stage = _Failing(error)
    jobs = JobRepository(database)
    workers = Workers(
        name="w",
        jobs=jobs,
        extraction=cast(ExtractionStage, stage),
        indexing=cast(IndexingStage, stage),
        embedding=cast(EmbeddingStage, stage),
        limits=WorkerLimits(),
    )
    workers.start()
    await asyncio.wait_for(workers.drain(), 30)
    await workers.stop()
    resource = await ResourceRepository(database).get(owner_id, resource_id)
    await database.close()
    assert stage.runs == runs
    assert (resource.status, resource.error_code) == (Status.FAILED, error.code)


class _Overtaken:
    """An index stage that always loses its lease, and an index that cannot be reached afterwards."""

    def __init__(self, runs: int) -> None:
        self.left = runs
        self.done = asyncio.Event()

    async def run(self, job: Job) -> None:
        self.left -= 1
        if not self.left:
            self.done.set()
        raise LeaseLost

    async def forget_deleted(self, job: Job) -> None:
        raise RuntimeError("the database has gone away")


async def test_workers_go_on_when_what_a_lost_lease_left_cannot_be_removed(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    for _ in range(2):
        await add_resource(database, "ada")
    async with database.write() as connection:
        await connection.execute(sa.update(resources).values(status=Status.EXTRACTED))
    stage = _Overtaken(2)
    workers = Workers(
        name="w",
        jobs=JobRepository(database),
        extraction=cast(ExtractionStage, stage),
        indexing=cast(IndexingStage, stage),
        embedding=cast(EmbeddingStage, stage),
        limits=WorkerLimits(indexing=1),
    )
    workers.start()
    await asyncio.wait_for(stage.done.wait(), 30)
    await workers.stop()
    await database.close()


class _Holding:
    """A stage that says who has begun, and ends when it is let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.let_go = asyncio.Event()

    async def run(self, job: Job) -> Sequence[Stage]:
        self.begun.append(job.owner_id)
        await self.let_go.wait()
        return ()


async def test_an_owner_of_whom_nothing_is_read_does_not_wait_for_another_s_giants(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    giants = [await add_resource(database, "ada") for _ in range(6)]
    stage = _Holding()
    jobs = JobRepository(database)
    workers = Workers(
        name="w",
        jobs=jobs,
        extraction=cast(ExtractionStage, stage),
        indexing=cast(IndexingStage, stage),
        embedding=cast(EmbeddingStage, stage),
        limits=WorkerLimits(extracting=2),
    )
    workers.start()
    await _until(lambda: len(stage.begun) == 2)
    await asyncio.sleep(1.5)
    assert stage.begun == [giants[0][0]] * 2, "one owner never has all slots"
    bob, _ = await add_resource(database, "bob")
    await add_resource(database, "bob")
    workers.wake()
    await _until(lambda: bob in stage.begun)
    await asyncio.sleep(1.5)
    assert stage.begun.count(bob) == 1
    await workers.stop()
    await database.close()


async def _until(true: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - the stage is a stand-in
            await asyncio.sleep(0.02)
