"""What comes of a stage that fails: tried again where that can help, ended with its reason at once where it cannot."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from citewell.errors import ExtractionError, ParserCrashed, ParserOutOfMemory
from citewell.ingest.extraction import ExtractionStage
from citewell.ingest.indexing import IndexingStage
from citewell.ingest.workers import WorkerLimits, Workers
from citewell.storage.database import Database
from citewell.storage.jobs import JobRepository
from citewell.storage.resources import ResourceRepository
from citewell.types import Job, Status
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
    workers = Workers("w", jobs, cast(ExtractionStage, stage), cast(IndexingStage, stage), WorkerLimits())
    workers.start()
    await asyncio.wait_for(workers.drain(), 30)
    await workers.stop()
    resource = await ResourceRepository(database).get(owner_id, resource_id)
    await database.close()
    assert stage.runs == runs
    assert (resource.status, resource.error_code) == (Status.FAILED, error.code)
