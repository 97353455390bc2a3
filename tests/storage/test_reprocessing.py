"""What is done for a file whose bytes are sent again: the work that its options ask for and that was not done yet, and no more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.reprocessing import ReprocessingRepository
from citewell.types import (
    AskedOptions,
    ErrorStage,
    ReindexSelection,
    Stage,
    Status,
    UploadOptions,
    UploadOutcome,
)
from tests.storage.rows import add_resource, new_resource

LOCKED = {"skipped": ["one.pdf: encrypted"]}


async def _set(database: Database, resource_id: str, **values: Any) -> None:
    async with database.write() as connection:
        await connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(**values))


@pytest.mark.parametrize(
    ("status", "asked", "outcome", "becomes"),
    [
        (Status.INDEXED, AskedOptions(), UploadOutcome.UNCHANGED, None),
        (Status.INDEXED, AskedOptions(extract_tables=True, multimodal=False), UploadOutcome.UNCHANGED, None),
        (Status.INDEXED, AskedOptions(multimodal=True), UploadOutcome.REREAD, Status.UPLOADED),
        (Status.INDEXED, AskedOptions(extract_tables=False), UploadOutcome.REREAD, Status.UPLOADED),
        (Status.ANALYZED, AskedOptions(extract_images=False), UploadOutcome.REREAD, Status.UPLOADED),
        (Status.INDEXED, AskedOptions(password="p"), UploadOutcome.UNCHANGED, None),
        (Status.INDEXED, AskedOptions(chunking={"size": 99}), UploadOutcome.REINDEXED, Status.EXTRACTED),
        (Status.INDEXED, AskedOptions(chunking={}), UploadOutcome.UNCHANGED, None),
        (Status.PARTIAL, AskedOptions(), UploadOutcome.RETRIED, Status.EXTRACTED),
        (Status.PARTIAL, AskedOptions(multimodal=True), UploadOutcome.REREAD, Status.UPLOADED),
        (Status.FAILED, AskedOptions(), UploadOutcome.RETRIED, Status.UPLOADED),
        (Status.FAILED, AskedOptions(password="p"), UploadOutcome.REREAD, Status.UPLOADED),
        (Status.UPLOADED, AskedOptions(), UploadOutcome.UNCHANGED, None),
        (Status.EXTRACTING, AskedOptions(password="p"), UploadOutcome.REREAD, Status.UPLOADED),
        (Status.EXTRACTING, AskedOptions(chunking={"size": 99}), UploadOutcome.UNCHANGED, None),
        (Status.INDEXING, AskedOptions(chunking={"size": 99}), UploadOutcome.REINDEXED, Status.EXTRACTED),
        (Status.STORED, AskedOptions(multimodal=True), UploadOutcome.UNCHANGED, None),
    ],
)
async def test_what_the_options_ask_for_beyond_what_was_done_is_done(
    database: Database, status: Status, asked: AskedOptions, outcome: UploadOutcome, becomes: Status | None
) -> None:
    owner, resource_id = await add_resource(database, "ada")
    read = status not in (Status.UPLOADED, Status.EXTRACTING, Status.FAILED)
    values = {"status": status, "extracted_at": 1.0 if read else None, "error_code": "corrupt", "fence": 4}
    await _set(database, resource_id, **values)
    assert await ReprocessingRepository(database).ask(owner, resource_id, asked) is outcome
    found = await ResourceRepository(database).get(owner, resource_id)
    assert found.status is (becomes or status)
    assert found.error_code == ("corrupt" if becomes is None else None)
    if becomes is not None:
        assert found.options == asked.over(UploadOptions())
        stage = Stage.EXTRACT if becomes is Status.UPLOADED else Stage.INDEX
        job = await JobRepository(database).claim(stage, "w")
        assert job
        assert (job.attempt, job.deaths, job.fence) == (1, 0, 6)


async def test_what_was_asked_once_is_not_done_again(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    again = ReprocessingRepository(database)
    await _set(database, resource_id, status=Status.INDEXED, extracted_at=1.0)
    asked = AskedOptions(multimodal=True, chunking={"strategy": "tokens", "size": 50})
    assert await again.ask(owner, resource_id, asked) is UploadOutcome.REREAD
    assert await again.ask(owner, resource_id, asked) is UploadOutcome.UNCHANGED, "it waits for its turn"
    await _set(database, resource_id, status=Status.INDEXED)
    assert await again.ask(owner, resource_id, asked) is UploadOutcome.UNCHANGED
    assert await again.ask(owner, resource_id, AskedOptions(chunking={})) is UploadOutcome.REINDEXED
    assert (await ResourceRepository(database).get(owner, resource_id)).options == UploadOptions(multimodal=True)


async def test_a_chunking_that_is_asked_for_before_the_file_was_read_is_kept(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    await _set(database, resource_id, options=asdict(UploadOptions(password="opens it")))
    await ReprocessingRepository(database).ask(owner, resource_id, AskedOptions(chunking={"size": 99}))
    found = await ResourceRepository(database).get(owner, resource_id)
    assert found.options == UploadOptions(password="opens it", chunking={"size": 99})


async def test_a_password_is_tried_on_what_stayed_closed(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    empty = {"units": [], "warnings": [], "skipped": LOCKED["skipped"]}
    await _set(database, resource_id, status=Status.INDEXED, extracted_at=1.0, coverage=empty)
    assert await ReprocessingRepository(database).ask(owner, resource_id, AskedOptions(password="p")) is (
        UploadOutcome.REREAD
    )


async def test_only_the_description_is_tried_again_where_only_it_failed(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    for stage, kept in ((ErrorStage.DESCRIPTION, ErrorStage.DESCRIPTION), (ErrorStage.INDEXING, None)):
        await _set(database, resource_id, status=Status.PARTIAL, extracted_at=1.0, error_stage=stage)
        assert await ReprocessingRepository(database).ask(owner, resource_id, AskedOptions()) is UploadOutcome.RETRIED
        assert (await ResourceRepository(database).get(owner, resource_id)).error_stage == kept


async def test_files_inside_a_file_are_read_by_the_same_options(database: Database) -> None:
    owner, parent = await add_resource(database, "ada")
    kept = ResourceRepository(database)
    project = await ProjectRepository(database).resolve(owner, None)
    child, _ = await kept.create(new_resource(owner, parent_id=parent), project)
    grandchild, _ = await kept.create(new_resource(owner, parent_id=child.id), project)
    failed, _ = await kept.create(new_resource(owner, parent_id=parent), project)
    for one in (parent, child.id, grandchild.id):
        await _set(database, one, status=Status.INDEXED, extracted_at=1.0)
    await _set(database, failed.id, status=Status.FAILED)
    again = ReprocessingRepository(database)
    await again.ask(owner, parent, AskedOptions(chunking={"size": 99}))
    for one in (parent, child.id, grandchild.id):
        found = await kept.get(owner, one)
        assert (found.status, found.options.chunking) == (Status.EXTRACTED, {"size": 99})
    assert (await kept.get(owner, failed.id)).status is Status.FAILED


async def test_a_text_without_a_file_is_left_alone(database: Database) -> None:
    owner, resource_id = await add_resource(database, "ada")
    await _set(database, resource_id, status=Status.INDEXED, extracted_at=1.0, record_id="r1")
    again = ReprocessingRepository(database)
    assert await again.ask(owner, resource_id, AskedOptions(multimodal=True)) is UploadOutcome.UNCHANGED


async def _library(database: Database) -> tuple[str, dict[Status, str]]:
    """Files of one owner, one in each of these states, all read."""
    owner, ids = "", dict[Status, str]()
    for status in (Status.INDEXED, Status.PARTIAL, Status.FAILED, Status.STORED, Status.EXTRACTING, Status.INDEXING):
        owner, ids[status] = await add_resource(database, "ada")
        await _set(database, ids[status], status=status, extracted_at=1.0, error_code="corrupt")
    return owner, ids


@pytest.mark.parametrize(
    ("selection", "extracted", "uploaded"),
    [
        (ReindexSelection(), {Status.INDEXED, Status.PARTIAL, Status.INDEXING}, {Status.FAILED}),
        (ReindexSelection(failed=True), {Status.PARTIAL}, {Status.FAILED}),
        (ReindexSelection(failed=True, read_again=True), set(), {Status.PARTIAL, Status.FAILED}),
        (
            ReindexSelection(read_again=True),
            set(),
            {Status.INDEXED, Status.PARTIAL, Status.FAILED, Status.STORED, Status.INDEXING},
        ),
    ],
)
async def test_a_run_sends_its_files_to_the_stage_that_they_need(
    database: Database, selection: ReindexSelection, extracted: set[Status], uploaded: set[Status]
) -> None:
    owner, ids = await _library(database)
    _, other = await add_resource(database, "ben")
    await _set(database, other, status=Status.FAILED)
    run = await ReprocessingRepository(database).begin(owner, selection)
    kept = ResourceRepository(database)
    for before, resource_id in ids.items():
        found = await kept.get(owner, resource_id)
        after = Status.EXTRACTED if before in extracted else Status.UPLOADED if before in uploaded else before
        assert found.status is after, before
    assert (run.total, run.waiting, run.failed) == (len(extracted | uploaded), len(extracted | uploaded), 0)
    (row,) = await database.rows(sa.select(resources.c.status).where(resources.c.id == other))
    assert row["status"] == Status.FAILED


async def test_a_run_says_how_far_it_is(database: Database) -> None:
    owner, ids = await _library(database)
    again = ReprocessingRepository(database)
    run = await again.begin(owner, ReindexSelection())
    await _set(database, ids[Status.INDEXED], status=Status.INDEXED)
    await _set(database, ids[Status.FAILED], status=Status.FAILED)
    now = await again.run(owner, run.id)
    assert (now.total, now.waiting, now.failed) == (4, 2, 1)
    later = await again.begin(owner, ReindexSelection(failed=True))
    assert later.total == 1
    assert [one.id for one in await again.latest(owner, 5)] == [later.id, run.id]
    assert (await again.run(owner, run.id)).failed == 0, "the later run has it now"


async def test_what_is_uploaded_during_a_run_goes_first(database: Database) -> None:
    owner, old = await add_resource(database, "ada")
    await _set(database, old, status=Status.FAILED)
    await ReprocessingRepository(database).begin(owner, ReindexSelection())
    _, new = await add_resource(database, "ada")
    jobs = JobRepository(database)
    claimed = [await jobs.claim(Stage.EXTRACT, "w") for _ in range(2)]
    assert [job.resource_id for job in claimed if job] == [new, old]


async def test_a_run_over_a_project_takes_only_its_files(database: Database) -> None:
    owner, outside = await add_resource(database, "ada")
    project = await ProjectRepository(database).resolve(owner, "Leases", create=True)
    inside, _ = await ResourceRepository(database).create(new_resource(owner), project)
    for one in (outside, inside.id):
        await _set(database, one, status=Status.INDEXED, extracted_at=1.0)
    run = await ReprocessingRepository(database).begin(owner, ReindexSelection(project_id=project))
    assert run.total == 1
    assert (await ResourceRepository(database).get(owner, inside.id)).status is Status.EXTRACTED
