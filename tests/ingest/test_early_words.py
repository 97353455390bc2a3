"""While a parser still writes, what it has read is found by its words; what comes of that when the file is read, or cannot be."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.errors import CorruptFile
from citewell.extract.core.sink import TITLE_FILE, Sink
from citewell.indexes.index_set import IndexSet, OpenIndex
from citewell.ingest import early_words
from citewell.ingest.chunking import chunk_title, config_of
from citewell.ingest.early_words import EarlyWords
from citewell.ingest.finishing import Finishing
from citewell.ingest.parser_scratch import read_elements
from citewell.ingest.summaries.step import Summariser
from citewell.storage.database import Database
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.vectors.indexes import IndexRecord, IndexState
from citewell.storage.vectors.waiting_vectors import WaitingVectorRepository
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.payload_changes import PayloadChangeRepository
from citewell.testing.embedder import HashEmbedder
from citewell.text.sparse import sparse_query
from citewell.types import (
    Category,
    ElementType,
    ExtractOptions,
    Filter,
    Job,
    Locator,
    Resource,
    Stage,
    VectorQuery,
)
from tests.storage.rows import add_resource

SENTENCE = "Paragraph {} of the long report tells what was lent, to whom, and what came back in the end. "


@dataclass
class Desk:
    """Early words over a database and an index of their own, and a file that is being read."""

    early: EarlyWords
    content: ContentRepository
    resources: ResourceRepository
    index: MemoryIndex
    embedder: HashEmbedder
    job: Job
    resource: Resource
    database: Database

    async def now(self) -> Resource:
        return await self.resources.get(self.job.owner_id, self.job.resource_id)

    async def points(self) -> int:
        return await self.index.count(Filter(owner_id=self.job.owner_id))

    async def finds(self, words: str) -> bool:
        scope = Filter(owner_id=self.job.owner_id)
        return bool(await self.index.search(VectorQuery(sparse=sparse_query(words, "en"), filter=scope, limit=1)))


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr(early_words, "_LONG_SECONDS", 0.0)
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    await add_resource(database, "ada")
    jobs, content, resources = JobRepository(database), ContentRepository(database), ResourceRepository(database)
    embedder, index = HashEmbedder(), MemoryIndex()
    record = IndexRecord(
        id="i",
        fingerprint=str(embedder.fingerprint),
        store="memory",
        state=IndexState.ACTIVE,
        role="active",
        settings={},
        progress=0,
        total=0,
        created_at=0.0,
        activated_at=None,
    )
    indexes = IndexSet(OpenIndex(record=record, embedder=embedder, store=index))
    early = EarlyWords(
        content=content,
        jobs=jobs,
        projects=ProjectRepository(database),
        indexes=indexes,
        finishing=Finishing(
            resources=resources,
            content=content,
            jobs=jobs,
            payloads=PayloadChangeRepository(database),
            indexes=indexes,
            summariser=cast(Summariser, None),
            attempts=1,
        ),
        chunking=ChunkConfig(),
    )
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job is not None
    resource = await resources.get(job.owner_id, job.resource_id)
    yield Desk(early, content, resources, index, embedder, job, resource, database)
    await database.close()


def _emit(sink: Sink, first: int, last: int) -> None:
    for number in range(first, last):
        sink.emit(ElementType.PARAGRAPH, SENTENCE.format(number) * 4, Locator(page=1 + number // 10))


async def _until_words(desk: Desk) -> None:
    async with asyncio.timeout(60):
        while (await desk.now()).searchable is None:  # noqa: ASYNC110 - the row is the truth
            await asyncio.sleep(0.02)


async def _elements(desk: Desk) -> int:
    return sum([len(one) async for one in desk.content.iterate_elements(desk.job.resource_id, desk.job.version)])


async def test_the_first_page_is_found_while_the_last_is_not_written(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    async with desk.early.beside(desk.job, desk.resource, folder) as reading:
        with Sink(folder, ExtractOptions()) as sink:
            sink.metadata["title"] = "What was lent"
            _emit(sink, 0, 300)
            await _until_words(desk)
            assert await desk.finds("lent")
            [some], _ = await desk.content.chunks_page(desk.job.resource_id, 1)
            named = await desk.content.elements_by_id(
                desk.job.resource_id, desk.job.version, [piece.element_id for piece in some.pieces]
            )
            assert named, "a passage that is found can be cited"
            _emit(sink, 300, 900)
        stored = await reading.elements()
    assert stored == 900 == await _elements(desk)
    config = config_of(ChunkConfig(), desk.resource, {}, desk.embedder)
    title = chunk_title(desk.resource.filename, "What was lent")
    final = list(chunk_elements(read_elements(folder), config, desk.embedder.tokenizer, title))
    chunks, _ = await desk.content.chunks_page(desk.job.resource_id, 10_000)
    assert [one.text for one in chunks] == [one.text for one in final], "they are cut as stage 3 cuts them"
    assert await desk.points() == len(final)
    waiting = WaitingVectorRepository(desk.database)
    assert len(await waiting.next(desk.job.resource_id, 10_000)) == len(final)
    assert (await desk.index.vectors([one.id for one in chunks])) == {}
    early = desk.early.take(desk.job)
    assert early is not None
    assert (early.chunks, early.elements, early.is_whole) == (len(final), 900, True)
    assert desk.early.take(desk.job) is None


async def test_of_a_file_that_cannot_be_read_in_the_end_nothing_stays(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()

    async def read() -> None:
        async with desk.early.beside(desk.job, desk.resource, folder):
            with Sink(folder, ExtractOptions()) as sink:
                _emit(sink, 0, 300)
                await _until_words(desk)
            raise CorruptFile

    with pytest.raises(CorruptFile):
        await read()
    known = await desk.now()
    assert (known.searchable, known.chunk_count, known.vectors_total) == (None, 0, 0)
    assert (await desk.points(), await desk.content.count_of(desk.job.resource_id), await _elements(desk)) == (0, 0, 0)
    assert desk.early.take(desk.job) is None


async def test_what_a_dead_attempt_left_is_replaced(desk: Desk, tmp_path: Path) -> None:
    for attempt in ("first", "second"):
        folder = tmp_path / attempt
        folder.mkdir()
        with Sink(folder, ExtractOptions()) as sink:
            _emit(sink, 0, 200)
        async with desk.early.beside(desk.job, desk.resource, folder) as reading:
            async with asyncio.timeout(60):
                while reading.early is None:  # noqa: ASYNC110 - the row still tells of the first attempt
                    await asyncio.sleep(0.02)
            assert await reading.elements() == 200
    assert await _elements(desk) == 200
    early = desk.early.take(desk.job)
    assert early is not None
    assert await desk.points() == await desk.content.count_of(desk.job.resource_id) == early.chunks


async def test_data_and_files_with_pictures_to_describe_are_indexed_as_a_whole(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    with Sink(folder, ExtractOptions()) as sink:
        _emit(sink, 0, 200)
    seen = replace(desk.resource, options=replace(desk.resource.options, multimodal=True))
    for other in (
        replace(desk.resource, detected_category=Category.DATA),
        seen,
        replace(desk.resource, extracted_at=1.0),
    ):
        async with desk.early.beside(desk.job, other, folder) as reading:
            await asyncio.sleep(0.2)
            assert await reading.elements() == 0
    assert await desk.points() == 0


async def test_nonsense_and_silence_disturb_no_parser(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "elements.jsonl").write_bytes(b'{"id": 3}\n' * 10)
    async with asyncio.timeout(60):
        for place in (folder, tmp_path / "missing"):
            async with desk.early.beside(desk.job, desk.resource, place) as reading:
                await asyncio.sleep(0.2)
                assert await reading.elements() == 0
    assert await desk.points() == 0


@pytest.mark.full
@pytest.mark.parametrize("name", ["elements.jsonl", TITLE_FILE])
async def test_a_link_in_place_of_what_a_parser_writes_is_not_followed(desk: Desk, tmp_path: Path, name: str) -> None:
    theirs, folder = tmp_path / "theirs", tmp_path / "scratch"
    for one in (theirs, folder):
        one.mkdir()
    with Sink(theirs, ExtractOptions()) as sink:
        _emit(sink, 0, 200)
    (theirs / TITLE_FILE).write_text("Their title")
    shutil.copytree(theirs, folder, dirs_exist_ok=True)
    (folder / name).unlink()
    (folder / name).symlink_to(theirs / name)
    async with desk.early.beside(desk.job, desk.resource, folder) as reading:
        await asyncio.sleep(0.3)
        assert await reading.elements() == 0
    assert await desk.points() == 0
