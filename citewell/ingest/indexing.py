"""Stage 3: cuts elements into chunks and adds them to every open index: short files with vectors, longer ones by their words first."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.errors import ProviderError
from citewell.indexes.index_set import DescribingIndex, IndexSet
from citewell.indexes.writing import mark_embedded, write_points
from citewell.ingest.chunking import chunk_title, config_of, sentence_embedder
from citewell.ingest.describe import captioned, describe_picture, describe_shown, describe_tables, describe_video
from citewell.ingest.early_words import EarlyWords
from citewell.ingest.finishing import Finishing, Written
from citewell.ingest.identity import chunk_id, identified
from citewell.ingest.language import language_of
from citewell.ingest.vision import ImageDescriber
from citewell.ports import multimodal
from citewell.ports.metering import OnSpent, reported
from citewell.ports.points import file_payload
from citewell.storage.files.content import ContentRepository, delete_chunks, insert_chunks
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.vectors.waiting_vectors import insert_waiting, ranks_of
from citewell.storage.work.jobs import JobRepository
from citewell.types import (
    Category,
    Chunk,
    ChunkDraft,
    Element,
    ElementType,
    ErrorStage,
    FileFacts,
    Filter,
    Job,
    Locator,
    Resource,
    Searchable,
    Stage,
    Status,
)

_BATCH = 256
_BATCHES_AT_ONCE = 3
MAX_SHORT = 32
"""Chunks of a short file. About a second of the built-in model: up to this length, a file gets its vectors at once."""
_HEAD_START_SECONDS = 3_600.0
_LAST_CALLS_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingStage:
    """Runs stage 3 of one job. Repeating it after a crash gives the same chunks and points.

    A short file gets its vectors at once and is finished; a longer one becomes searchable by its words, and stage 4 continues with it.
    If only the description failed, a retry repeats only that.
    """

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    projects: ProjectRepository
    indexes: IndexSet
    describer: ImageDescriber
    finishing: Finishing
    early: EarlyWords
    chunking: ChunkConfig
    max_dense_rows: int
    on_spent: OnSpent
    on_indexed: Callable[[str | None], None] = field(default=lambda _: None)
    """Called with the language of each file that has become searchable."""

    async def run(self, job: Job) -> Sequence[Stage]:
        """Index the job's resource. Returns the stages that then have work.

        Raises `ProviderError` or `Unavailable`, and `LeaseLost` if another worker took over. Usage is reported even if the attempt fails.
        """
        async with reported(job.owner_id, self.on_spent):
            return await self._run(job)

    async def _run(self, job: Job) -> Sequence[Stage]:
        started = time.monotonic()
        resource = await self.resources.get(job.owner_id, job.resource_id)
        elements = [e async for batch in self.content.iterate_elements(job.resource_id, job.version) for e in batch]
        read = len(elements)
        sees = any(multimodal(index.embedder) is not None for index in self.indexes.all)
        elements, coverage, unseen = await self.describer.run(job, resource, elements, is_seen=sees)
        language = await asyncio.to_thread(file_language, resource, elements)
        # Later changes to the file's details are payload changes, applied after this stage.
        file = replace(await self.finishing.facts(job), language=language)
        config = await self.config(job, resource)
        known = await self.content.chunk_ids(job.resource_id)
        first = chunk_id(job.resource_id, job.version, config.fingerprint, 0)
        cut = await self._cut_early(job, file, config, len(elements))
        if cut.waiting:
            pass  # stage 2 has done it
        elif resource.error_stage != ErrorStage.DESCRIPTION or first not in known or len(elements) != read:
            cut = await self._replace_chunks(job, resource, elements, file, known, config)
        values: dict[str, Any] = {
            "language": language,
            "coverage": coverage.to_json() if coverage is not None else None,
            "indexing_duration_ms": round((time.monotonic() - started) * 1000),
        }
        if cut.waiting:
            await self._leave_to_stage_4(job, cut, values)
        else:
            await self.finishing.run(job, resource, elements, file, values, unseen, written=cut)
        self.on_indexed(language)
        return (Stage.EMBED,) if cut.waiting else ()

    async def forget_deleted(self, job: Job) -> None:
        """See `Finishing.forget_deleted`."""
        await self.finishing.forget_deleted(job)

    async def _cut_early(self, job: Job, file: FileFacts, config: ChunkConfig, elements: int) -> _Cut:
        """The part indexed while the file was being read; nothing if anything came out differently."""
        early = self.early.take(job)
        if early is None or (early.fingerprint, early.elements) != (config.fingerprint, elements):
            return _Cut()
        if early.file.language != file.language:  # its words have changed
            return _Cut()
        mine = Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,))
        for index in self.indexes.all:
            if await index.store.count(mine) != early.chunks:
                return _Cut()
            if early.file != file:
                await index.store.set_payload(mine, file_payload(file))
                if isinstance(index.store, DescribingIndex):
                    await index.store.describe_file(mine, file)
        return _Cut(chunks=early.chunks, waiting=early.chunks)

    async def _leave_to_stage_4(self, job: Job, cut: _Cut, values: dict[str, Any]) -> None:
        """End the job of a resource that is now searchable by its words. Its first turn for vectors comes before all later turns of other files."""
        now = time.time()
        values |= {"chunk_count": cut.chunks, "summary": None, "indexed_at": now, "due": now - _HEAD_START_SECONDS}
        values |= _by_words(cut.waiting)
        await self.jobs.change(
            job, lambda c: self.jobs.finish(c, job, Status.EMBEDDING, {"chunks": cut.chunks}, **values)
        )

    async def _replace_chunks(
        self,
        job: Job,
        resource: Resource,
        elements: Sequence[Element],
        file: FileFacts,
        stale: set[str],
        config: ChunkConfig,
    ) -> _Cut:
        """Chunk, store and index in overlapping batches, then remove the resource's previous chunks."""
        chunks = self.chunks(job, resource, elements, config)
        cut, at_once = _Cut(), resource.detected_category == Category.IMAGE
        writing: deque[asyncio.Task[None]] = deque()
        try:
            async for batch in _batches(chunks):
                at_once = at_once or (cut.chunks == 0 and len(batch) <= MAX_SHORT)
                dense, cut.rows = mark_embedded(batch, cut.rows, self.max_dense_rows)
                waiting = [] if at_once else list(itertools.compress(batch, dense))
                await self.jobs.change(job, partial(self._store, job, batch, waiting, cut, stale))
                cut.add(batch, waiting, at_once)
                stale.difference_update(c.id for c in batch)
                write = self._write_at_once(job, batch, dense, file) if at_once else self._write(batch, file)
                writing.append(asyncio.create_task(write))
                if len(writing) == _BATCHES_AT_ONCE:
                    await _written(writing)
            if not cut.chunks:
                await self.jobs.change(job, partial(self._store, job, (), (), cut, stale))
            while writing:
                await _written(writing)
        finally:
            await self._end(writing)
        await self._settle(job, file, cut, stale)
        return cut

    def _store(
        self,
        job: Job,
        batch: Sequence[Chunk],
        waiting: Sequence[Chunk],
        cut: _Cut,
        stale: Collection[str],
        connection: sa.Connection,
    ) -> None:
        """Add a batch to SQL; the first replaces the resource's previous chunks."""
        if not cut.chunks:
            if stale:
                delete_chunks(connection, job.resource_id)
            self.jobs.note(connection, job, searchable=None, vectors_done=0, vectors_total=0)
        insert_chunks(connection, batch)
        insert_waiting(connection, waiting, ranks_of(waiting, cut.context))

    async def _end(self, writing: Collection[asyncio.Task[None]]) -> None:
        """Stop writing. Calls in flight are paid for, so they get a few seconds to save their vectors to the cache."""
        if writing and any(index.is_remote for index in self.indexes.all):
            await asyncio.wait(writing, timeout=_LAST_CALLS_SECONDS)
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)

    async def _write(self, batch: Sequence[Chunk], file: FileFacts, dense: Sequence[bool] | None = None) -> None:
        """Add a batch to every open index, with vectors for chunks marked `dense`, or all by their words only."""
        for index in self.indexes.all:
            await write_points(index, batch, dense or [False] * len(batch), file)

    async def _write_at_once(self, job: Job, batch: Sequence[Chunk], dense: Sequence[bool], file: FileFacts) -> None:
        """Like `_write`, with vectors. If the embedder fails, the batch is searchable by its words until it recovers."""
        try:
            await self._write(batch, file, dense)
        except ProviderError:
            await self._write(batch, file)
            waiting = list(itertools.compress(batch, dense))

            def note(connection: sa.Connection) -> None:
                insert_waiting(connection, waiting, ranks_of(waiting))
                self.jobs.note(connection, job, chunk_count=len(batch), **_by_words(len(waiting)))

            await self.jobs.change(job, note)
            raise

    async def _settle(self, job: Job, file: FileFacts, cut: _Cut, stale: set[str]) -> None:
        """Leave exactly the current chunks in every index, even after an attempt that died halfway."""
        mine = Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,))
        for index in self.indexes.all:
            if stale:
                await index.store.delete_ids(sorted(stale))
            if await index.store.count(mine) == cut.chunks:
                continue
            await index.store.delete(mine)
            cursor: str | None = None
            rows = 0
            while True:
                page, cursor = await self.content.chunks_page(job.resource_id, _BATCH, cursor)
                dense, rows = mark_embedded(page, rows, self.max_dense_rows)
                await write_points(index, page, [False] * len(page) if cut.waiting else dense, file)
                if cursor is None:
                    break

    async def config(self, job: Job, resource: Resource) -> ChunkConfig:
        """The resource's chunking configuration."""
        project = await self.projects.settings(job.owner_id, resource.project_ids[0]) if resource.project_ids else {}
        return config_of(self.chunking, resource, project, self.indexes.active.embedder)

    def chunks(self, job: Job, resource: Resource, elements: Sequence[Element], config: ChunkConfig) -> Iterator[Chunk]:
        """All chunks of the resource's content, cut lazily (in a thread)."""
        embedder = self.indexes.active.embedder
        sentences = sentence_embedder(embedder, asyncio.get_running_loop())
        title = chunk_title(resource.filename, resource.extraction_metadata.get("title"))
        said = chunk_elements(caption_elements(resource.options.caption), config, embedder.tokenizer, title, sentences)
        drafts: Iterable[ChunkDraft] = itertools.chain(
            _captioned(resource, said, elements),
            _about(resource),
            _pictures(resource, elements) if multimodal(embedder) is not None else (),
            chunk_elements(
                elements,
                config,
                embedder.tokenizer,
                title,
                sentences,
            ),
        )
        return identified(drafts, job, config.fingerprint)


@dataclass(slots=True)
class _Cut(Written):
    """The indexed content of a resource, with the chunks waiting for vectors, the rows, and the context of the last waiting chunk."""

    waiting: int = 0
    rows: int = 0
    context: str | None = None

    def add(self, batch: Sequence[Chunk], waiting: Sequence[Chunk], is_whole: bool) -> None:
        """Count a batch. A batch that is whole is the entire content."""
        self.chunks += len(batch)
        self.passages = batch if is_whole and self.chunks == len(batch) else ()
        self.waiting += len(waiting)
        self.context = waiting[-1].context if waiting else self.context


def _by_words(waiting: int) -> dict[str, Any]:
    """Values for the row of a resource that is searchable by its words while `waiting` chunks wait for vectors."""
    return {"searchable": Searchable.WORDS, "vectors_done": 0, "vectors_total": waiting}


async def _written(writing: deque[asyncio.Task[None]]) -> None:
    """Wait for the first batch and remove it. If the wait is canceled, the batch continues."""
    await asyncio.wait({writing[0]})
    writing.popleft().result()


async def _batches(chunks: Iterator[Chunk]) -> AsyncIterator[list[Chunk]]:
    """Batches of chunks; the chunker runs in a thread, one batch at a time."""
    while batch := await asyncio.to_thread(lambda: list(itertools.islice(chunks, _BATCH))):
        yield batch
        if len(batch) < _BATCH:
            return


def _about(resource: Resource) -> list[ChunkDraft]:
    """The descriptions of a data file's tables, or of a picture, indexed in addition to its content."""
    if resource.detected_category == Category.VIDEO:
        return [describe_video(resource.filename, resource.extraction_metadata)]
    if resource.detected_category == Category.IMAGE:
        return [describe_picture(resource.filename, resource.extraction_metadata)]
    return describe_tables(resource.extraction_metadata)


def caption_elements(caption: str | None) -> list[Element]:
    """A caption as elements for the chunker: a paragraph per line. They are not stored, because the caption is an upload option."""
    lines = (caption or "").splitlines()
    return [
        Element(id=f"caption-{place}", type=ElementType.PARAGRAPH, text=line, locator=Locator())
        for place, line in enumerate(lines)
        if line.strip()
    ]


def _captioned(resource: Resource, said: Iterable[ChunkDraft], elements: Sequence[Element]) -> Iterable[ChunkDraft]:
    """The chunks of a caption; for a picture or video, they are embedded together with it."""
    if resource.detected_category == Category.IMAGE:
        return captioned(said, None)
    frame = next((element for element in elements if element.type is ElementType.IMAGE and element.blob), None)
    if resource.detected_category == Category.VIDEO and frame is not None:
        return captioned(said, frame)
    return (replace(draft, pieces=()) for draft in said)


def _pictures(resource: Resource, elements: Sequence[Element]) -> list[ChunkDraft]:
    """A chunk for each picture without words in a file uploaded with `multimodal`; its vector is the picture's."""
    if not resource.options.multimodal or resource.detected_category == Category.IMAGE:
        return []
    shown = [element for element in elements if element.type is ElementType.IMAGE and element.blob is not None]
    in_words = {element.blob for element in shown if element.text.strip()}
    return [describe_shown(resource.filename, element) for element in shown if element.blob not in in_words]


def file_language(resource: Resource, elements: Sequence[Element]) -> str | None:
    """The language. For documents, a stated one takes precedence over one detected from the text; for data files, the detected one does."""
    if resource.detected_category != Category.DATA:
        return resource.language or language_of(elements, is_data=False)
    told = language_of(elements, is_data=True)
    return told if resource.indexed_at is not None else told or resource.language
