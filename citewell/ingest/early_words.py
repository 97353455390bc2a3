"""Makes the part of a long file that was already read searchable by its words, while the parser reads the rest.

If the file turns out to be unreadable, stage 2 removes all of this. Otherwise stage 3 finds its work done and passes the file to
stage 4; after a restart, or if anything came out differently, it starts over.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy as sa

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.errors import CitewellError, LeaseLost
from citewell.extract.core.sink import TITLE_FILE
from citewell.indexes.index_set import IndexSet
from citewell.indexes.writing import write_points
from citewell.ingest.chunking import chunk_title, config_of
from citewell.ingest.finishing import Finishing
from citewell.ingest.identity import identified
from citewell.ingest.language import language_of
from citewell.ingest.parser_scratch import follow_element_lines, open_plain
from citewell.storage.files.content import (
    ContentRepository,
    delete_chunks,
    delete_elements,
    insert_chunks,
    insert_elements,
)
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.vectors.waiting_vectors import insert_waiting, ranks_of
from citewell.storage.work.jobs import JobRepository
from citewell.types import Category, Chunk, Element, FileFacts, Filter, Job, Resource, Searchable

log = logging.getLogger(__name__)
# Files read faster than this are searchable sooner if indexed as a whole.
_LONG_SECONDS = 1.0
_LOOK_SECONDS = 0.1
# Chunks in the first and the largest batch: the first page is searchable soon, and the last does not wait for many transactions.
_FIRST_BATCH = 8
_MAX_BATCH = 128
_MAX_TITLE_LENGTH = 1_000
_MAX_CHARACTER = 4  # bytes of a character in UTF-8
_REMEMBERED = 1_024
_Line = tuple[int, Element, str]


@dataclass(slots=True)
class EarlyFile:
    """The part of a file that is in SQL and, by its words, in every index: chunked according to `fingerprint`, with `file` as payload.

    is_whole: whether this is the whole file
    """

    fingerprint: str
    file: FileFacts
    elements: int = 0
    chunks: int = 0
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyWords:
    """Indexes documents while stage 2 reads them for the first time."""

    content: ContentRepository
    jobs: JobRepository
    projects: ProjectRepository
    indexes: IndexSet
    finishing: Finishing
    chunking: ChunkConfig
    _done: OrderedDict[tuple[str, int], EarlyFile] = field(default_factory=OrderedDict[tuple[str, int], EarlyFile])

    def take(self, job: Job) -> EarlyFile | None:
        """Take over the finished work on a resource, if this process did all of it."""
        done = self._done.pop((job.resource_id, job.version), None)
        return done if done is not None and done.is_whole else None

    @asynccontextmanager
    async def beside(self, job: Job, resource: Resource, folder: Path) -> AsyncGenerator[_Reading]:
        """Process what the parser writes into `folder` until the block ends. If the block fails, remove it from SQL and the indexes."""
        reading = _Reading()
        if not await self._suits(resource):
            yield reading
            return
        task = asyncio.create_task(self._run(job, resource, folder, reading))
        reading.task = task
        try:
            yield reading
        except CitewellError:
            await self._stop(reading)
            if reading.early is not None:
                await self._remove(job)
            raise
        finally:
            await self._stop(reading)

    async def _stop(self, reading: _Reading) -> None:
        reading.ended.set()
        if reading.task is not None:
            reading.task.cancel()
            await asyncio.gather(reading.task, return_exceptions=True)

    async def _suits(self, resource: Resource) -> bool:
        """Whether the file has no vectors yet, and its passages depend only on what the parser writes."""
        if (
            resource.detected_category != Category.RAG
            or resource.options.multimodal
            or resource.options.caption
            or resource.extracted_at is not None
        ):
            return False
        places, _ = await self.content.chunks_page(resource.id, 1)
        return not places or places[0].version == resource.version

    async def _run(self, job: Job, resource: Resource, folder: Path, reading: _Reading) -> None:
        try:
            await self._follow(job, resource, folder, reading)
        except LeaseLost:
            raise
        except Exception:  # stage 3 does the work as usual
            log.warning("%s is not searchable before it has been read", job.resource_id, exc_info=True)

    async def _follow(self, job: Job, resource: Resource, folder: Path, reading: _Reading) -> None:
        await asyncio.sleep(_LONG_SECONDS)
        active = self.indexes.active.embedder
        of_project = (
            await self.projects.settings(resource.owner_id, resource.project_ids[0]) if resource.project_ids else {}
        )
        config = config_of(self.chunking, resource, of_project, active)
        if config.strategy is Strategy.SEMANTIC:  # cut by vectors
            return
        lines = enumerate(follow_element_lines(folder, lambda: not reading.ended.wait(_LOOK_SECONDS)))
        first = await asyncio.to_thread(next, lines, None)
        if first is None:
            return
        read: list[_Line] = []
        drafts = chunk_elements(
            _noted(itertools.chain([first], lines), read),
            config,
            active.tokenizer,
            chunk_title(resource.filename, await asyncio.to_thread(_title, folder)),
        )
        chunks = identified(drafts, job, config.fingerprint)
        size, context = _FIRST_BATCH, None
        while batch := await asyncio.to_thread(_taken, chunks, size):
            if reading.early is None:
                reading.early = await self._begin(job, config, [element for _, element, _ in read])
            await self._write(job, reading.early, batch, read, context)
            size, context = min(2 * size, _MAX_BATCH), batch[-1].context
        if reading.early is not None:
            await self._write(job, reading.early, [], read, context)
            reading.early.is_whole = True
            self._done[job.resource_id, job.version] = reading.early
            while len(self._done) > _REMEMBERED:
                self._done.popitem(last=False)

    async def _begin(self, job: Job, config: ChunkConfig, read: Sequence[Element]) -> EarlyFile:
        """Remove the remains of a dead attempt."""
        await self._remove(job)
        language = await asyncio.to_thread(language_of, read, is_data=False)
        return EarlyFile(config.fingerprint, replace(await self.finishing.facts(job), language=language))

    async def _write(
        self, job: Job, early: EarlyFile, batch: Sequence[Chunk], read: list[_Line], context: str | None
    ) -> None:
        """Write elements first, because passages refer to them, then passages, then points, which must not show what SQL lacks."""
        new, read[:] = list(read), []

        def store(connection: sa.Connection) -> None:
            insert_elements(connection, job.resource_id, job.version, new)
            insert_chunks(connection, batch)
            insert_waiting(connection, batch, ranks_of(batch, context))

        await self.jobs.change(job, store)
        early.elements += len(new)
        early.chunks += len(batch)
        if not batch:
            return
        for index in self.indexes.all:
            await write_points(index, batch, [False] * len(batch), early.file)
        found = {"searchable": Searchable.WORDS, "chunk_count": early.chunks, "vectors_total": early.chunks}
        await self.jobs.change(job, lambda connection: self.jobs.note(connection, job, **found))

    async def _remove(self, job: Job) -> None:
        def remove(connection: sa.Connection) -> None:
            delete_chunks(connection, job.resource_id)
            delete_elements(connection, job.resource_id, job.version)
            self.jobs.note(connection, job, searchable=None, chunk_count=0, vectors_done=0, vectors_total=0)

        await self.jobs.change(job, remove)
        for index in self.indexes.all:
            await index.store.delete(Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,)))


@dataclass(slots=True)
class _Reading:
    """A file being read, and the part of it stored so far."""

    ended: threading.Event = field(default_factory=threading.Event)
    task: asyncio.Task[None] | None = None
    early: EarlyFile | None = None

    async def elements(self) -> int:
        """The number of stored elements, once everything the parser wrote is stored; 0 if they must be stored again."""
        self.ended.set()
        if self.task is not None:
            if self.early is None:  # the parser has already finished: start nothing
                self.task.cancel()
            await asyncio.wait({self.task})
            if not self.task.cancelled():
                self.task.result()
        return self.early.elements if self.early is not None and self.early.is_whole else 0


def _taken(chunks: Iterator[Chunk], count: int) -> list[Chunk]:
    return list(itertools.islice(chunks, count))


def _noted(lines: Iterator[tuple[int, tuple[Element, str]]], read: list[_Line]) -> Iterator[Element]:
    for ordinal, (element, line) in lines:
        read.append((ordinal, element, line))
        yield element


def _title(folder: Path) -> str:
    with open_plain(folder / TITLE_FILE) as file:
        return file.read(_MAX_TITLE_LENGTH * _MAX_CHARACTER).decode(errors="replace")[:_MAX_TITLE_LENGTH]
