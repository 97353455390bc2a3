"""Passages without vectors: which of them come first, who notes that they are done, and what becomes of them with their file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.files.content import delete_chunks, insert_chunks
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.storage.vectors.waiting_vectors import (
    BEGINNING,
    REST,
    WaitingVectorRepository,
    embedded,
    insert_waiting,
    ranks_of,
)
from citewell.storage.work.jobs import JobRepository
from citewell.types import Chunk, ChunkType, ErrorStage, Job, Locator, Searchable, Stage, Status
from tests.storage.rows import add_resource


@dataclass
class Desk:
    """A database with a file of some chunks that wait for their vectors."""

    database: Database
    jobs: JobRepository
    waiting: WaitingVectorRepository
    owner_id: str
    chunks: list[Chunk]

    async def set(self, **values: object) -> None:
        async with self.database.write() as connection:
            await connection.execute(sa.update(resources).values(**values))

    async def claim(self) -> Job:
        job = await self.jobs.claim(Stage.EMBED, "w")
        assert job is not None
        return job


def chunk(owner_id: str, resource_id: str, ordinal: int, context: str = "") -> Chunk:
    return Chunk(
        id=f"{resource_id[:8]}-{ordinal:03}",
        owner_id=owner_id,
        resource_id=resource_id,
        version=1,
        ordinal=ordinal,
        type=ChunkType.TEXT,
        text=f"Passage {ordinal}.",
        context=context,
        locator=Locator(),
    )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    owner_id, resource_id = await add_resource(database, "ada")
    chunks = [chunk(owner_id, resource_id, n, f"Part {n // 10}") for n in range(40)]
    async with database.write() as connection:
        await connection.run_sync(insert_chunks, chunks)
        await connection.run_sync(insert_waiting, chunks, ranks_of(chunks))
    desk = Desk(database, JobRepository(database), WaitingVectorRepository(database), owner_id, chunks)
    await desk.set(status=Status.EMBEDDING, searchable=Searchable.WORDS, vectors_total=len(chunks))
    yield desk
    await database.close()


def test_what_begins_a_file_or_a_section_comes_first() -> None:
    chunks = [chunk("o", "resource", n, f"Part {n // 10}") for n in range(30)]
    ranks = ranks_of(chunks)
    assert [n for n, rank in enumerate(ranks) if rank == BEGINNING] == [*range(12), 20]
    assert ranks_of(chunks[20:], "Part 2")[0] == REST, "the section began in the batch before"


async def test_turns_are_by_rank_then_in_reading_order(desk: Desk) -> None:
    resource_id = desk.chunks[0].resource_id
    first = await desk.waiting.next(resource_id, 15)
    assert first == [desk.chunks[n].id for n in [*range(12), 20, 30, 12]]
    assert await desk.waiting.next(resource_id, 2, first) == [desk.chunks[n].id for n in (13, 14)]


async def test_what_a_question_found_comes_before_all_else(desk: Desk) -> None:
    await desk.set(due=1e12)
    await desk.waiting.prefer([desk.chunks[37].id, "unknown"])
    assert (await desk.waiting.next(desk.chunks[0].resource_id, 1)) == [desk.chunks[37].id]
    async with desk.database.read() as connection:
        assert await connection.scalar(sa.select(resources.c.due)) == 0, "and so does its file"


async def test_vectors_that_are_there_are_counted_once(desk: Desk) -> None:
    resource_id, ids = desk.chunks[0].resource_id, [one.id for one in desk.chunks[:10]]
    for _ in range(2):
        async with desk.database.write() as connection:
            await connection.run_sync(embedded, resource_id, ids)
    found = await ResourceRepository(desk.database).get(desk.owner_id, resource_id)
    assert (found.vectors_done, found.semantic_progress, found.searchable) == (10, 0.25, Searchable.WORDS)
    assert await desk.waiting.among([one.id for one in desk.chunks[:12]]) == {one.id for one in desk.chunks[10:12]}


async def test_a_chunk_that_is_removed_waits_no_longer(desk: Desk) -> None:
    resource_id = desk.chunks[0].resource_id
    async with desk.database.write() as connection:
        await connection.run_sync(delete_chunks, resource_id, [desk.chunks[0].id])
    assert (await desk.waiting.next(resource_id, 1)) == [desk.chunks[1].id]
    await ResourceRepository(desk.database).delete(desk.owner_id, resource_id)
    assert await desk.waiting.next(resource_id, 1) == []


async def test_a_file_that_passes_its_turn_comes_after_those_that_wait(desk: Desk) -> None:
    job = await desk.claim()
    assert not await desk.jobs.others_wait(job)
    _, other = await add_resource(desk.database, "ada")
    async with desk.database.write() as connection:
        await connection.execute(sa.update(resources).where(resources.c.id == other).values(status=Status.EMBEDDING))
    assert await desk.jobs.others_wait(job)
    await desk.jobs.pass_turn(job)
    assert (await desk.claim()).resource_id == other
    assert (await desk.claim()).resource_id == job.resource_id


async def test_what_ended_while_a_provider_was_down_goes_on_after_its_pause(desk: Desk) -> None:
    await desk.set(status=Status.PARTIAL, error_stage=ErrorStage.INDEXING, error_code="provider_auth")
    assert await desk.jobs.resume_embedding(["provider_unavailable"], 2) == 0, "somebody has to do something first"
    await desk.set(error_code="provider_unavailable", not_before=4e9)
    assert await desk.jobs.resume_embedding(["provider_unavailable"], 2) == 0, "its pause is not over"
    await desk.set(not_before=0)
    assert await desk.jobs.resume_embedding(["provider_unavailable"], 2) == 1
    assert (await desk.claim()).attempt == 3
    found = await ResourceRepository(desk.database).get(desk.owner_id, desk.chunks[0].resource_id)
    assert (found.status, found.error_code) == (Status.EMBEDDING, None)


async def test_a_note_of_which_chunks_wait_is_not_asked_for_while_none_does(desk: Desk) -> None:
    async with desk.database.write() as connection:
        await connection.run_sync(embedded, desk.chunks[0].resource_id, [one.id for one in desk.chunks])
    fresh = WaitingVectorRepository(desk.database)
    assert await fresh.among([desk.chunks[0].id]) == set()
    async with desk.database.write() as connection:
        again = replace(desk.chunks[0], id="again", ordinal=99)
        await connection.run_sync(insert_chunks, [again])
        await connection.run_sync(insert_waiting, [again], [REST])
    assert await fresh.among(["again"]) == set(), "for a second it is remembered that none waits"
