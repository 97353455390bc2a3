"""Stage 3: cut elements into chunks, embed them, put them into every open index, and describe the resource."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.errors import CitewellError, DiskFull, ProviderError, Unavailable
from citewell.indexes.index_set import IndexSet
from citewell.indexes.writing import mark_embedded, write_points
from citewell.ingest.chunking import chunk_title, config_of, sentence_embedder
from citewell.ingest.describe import describe_document, describe_picture, describe_shown, describe_tables
from citewell.ingest.language import language_of
from citewell.ingest.vision import ImageDescriber
from citewell.metering import OnSpent, reported
from citewell.points import facts
from citewell.ports import multimodal
from citewell.storage.content import ContentRepository, delete_chunks, insert_chunks
from citewell.storage.jobs import JobRepository
from citewell.storage.projects import ProjectRepository
from citewell.storage.resources import ResourceRepository
from citewell.types import (
    Category,
    Chunk,
    ChunkDraft,
    Element,
    ElementType,
    ErrorStage,
    Filter,
    Job,
    JsonObject,
    Resource,
    Status,
)

_NAMESPACE = uuid.UUID("7b7d4c0e-5d0f-5c57-9a53-9e2f6a3f1c11")
_BATCH = 256
_BATCHES_AT_ONCE = 3
_FINAL = {Category.DATA: Status.ANALYZED, Category.IMAGE: Status.DESCRIBED}


def chunk_id(resource_id: str, version: int, fingerprint: str, ordinal: int) -> str:
    """UUIDv5 of everything that determines a chunk, so that repeating the work gives the same ids."""
    return str(uuid.uuid5(_NAMESPACE, f"{resource_id}/{version}/{fingerprint}/{ordinal}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingStage:
    """Runs stage 3 of one job. Repeating it after a crash gives the same chunks and points."""

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    projects: ProjectRepository
    indexes: IndexSet
    describer: ImageDescriber
    chunking: ChunkConfig
    max_dense_rows: int
    on_spent: OnSpent

    async def run(self, job: Job) -> None:
        """Index the job's resource; raises `ProviderError` or `Unavailable` from outside, `LeaseLost` when another worker took over.

        What an attempt spends is reported even when it fails.
        """
        async with reported(job.owner_id, self.on_spent):
            await self._run(job)

    async def _run(self, job: Job) -> None:
        started = time.monotonic()
        resource = await self.resources.get(job.owner_id, job.resource_id)
        elements = [e async for batch in self.content.iterate_elements(job.resource_id, job.version) for e in batch]
        sees = any(multimodal(index.embedder) is not None for index in self.indexes.all)
        elements, coverage = await self.describer.run(job, resource, elements, is_seen=sees)
        language = await asyncio.to_thread(_language, resource, elements)
        stale = await self.content.chunk_ids(job.resource_id)
        count = await self._replace_chunks(job, resource, elements, language, stale)
        summary = _first_text(_about(resource)) or describe_document(elements)
        async with self.jobs.fenced(job) as connection:
            await self.jobs.finish(
                connection,
                job,
                _FINAL.get(Category(resource.detected_category), Status.INDEXED),
                {"chunks": count},
                chunk_count=count,
                language=language,
                summary=summary,
                coverage=coverage.to_json() if coverage is not None else None,
                indexed_at=time.time(),
                indexing_duration_ms=round((time.monotonic() - started) * 1000),
                error_code=None,
                error_stage=None,
                error_message=None,
            )

    async def forget_deleted(self, job: Job) -> None:
        """Remove the points of a resource that was deleted while it was being indexed; some may have been written after its deletion."""
        if await self.resources.owned(job.owner_id, [job.resource_id]):
            return
        for index in self.indexes.all:
            with contextlib.suppress(ProviderError, Unavailable, DiskFull):  # such points are never shown
                await index.store.delete(Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,)))

    async def _replace_chunks(
        self, job: Job, resource: Resource, elements: Sequence[Element], language: str | None, stale: set[str]
    ) -> int:
        """Chunk, store and embed in overlapping batches, then remove the resource's previous chunks. Returns the number of chunks."""
        chunks = await self._chunks(job, resource, elements)
        if stale:
            async with self.jobs.fenced(job) as connection:
                await delete_chunks(connection, job.resource_id)
        count, rows = 0, 0
        writing: deque[asyncio.Task[None]] = deque()
        try:
            async for batch in _batches(chunks):
                async with self.jobs.fenced(job) as connection:
                    await insert_chunks(connection, batch)
                dense, rows = mark_embedded(batch, rows, self.max_dense_rows)
                count += len(batch)
                stale.difference_update(c.id for c in batch)
                writing.append(asyncio.create_task(self._write(batch, dense, resource.filename, language)))
                if len(writing) == _BATCHES_AT_ONCE:
                    await writing.popleft()
            while writing:
                await writing.popleft()
        finally:
            await _cancel(writing)
        await self._settle(job, resource, count, stale, language)
        return count

    async def _write(self, batch: Sequence[Chunk], dense: Sequence[bool], filename: str, language: str | None) -> None:
        """Embed a batch and put it into every open index."""
        for index in self.indexes.all:
            await write_points(index, batch, dense, filename, language)

    async def _settle(self, job: Job, resource: Resource, count: int, stale: set[str], language: str | None) -> None:
        """Leave exactly the current chunks in every index, also after an attempt that died half-way."""
        mine = Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,))
        for index in self.indexes.all:
            if stale:
                await index.store.delete_ids(sorted(stale))
            if await index.store.count(mine) == count:
                continue
            await index.store.delete(mine)
            cursor: str | None = None
            rows = 0
            while True:
                page, cursor = await self.content.chunks_page(job.resource_id, _BATCH, cursor)
                dense, rows = mark_embedded(page, rows, self.max_dense_rows)
                await write_points(index, page, dense, resource.filename, language)
                if cursor is None:
                    break

    async def _chunks(self, job: Job, resource: Resource, elements: Sequence[Element]) -> Iterator[Chunk]:
        """All chunks of the resource, cut lazily (in a thread)."""
        embedder = self.indexes.active.embedder
        project = await self.projects.settings(job.owner_id, resource.project_ids[0]) if resource.project_ids else {}
        config = config_of(self.chunking, resource, project, embedder)
        sentences = sentence_embedder(embedder, asyncio.get_running_loop())
        drafts: Iterable[ChunkDraft] = itertools.chain(
            _about(resource),
            _pictures(resource, elements) if multimodal(embedder) is not None else (),
            chunk_elements(
                elements,
                config,
                embedder.tokenizer,
                chunk_title(resource.filename, resource.extraction_metadata.get("title")),
                sentences,
            ),
        )
        return _identified(drafts, job, facts(resource.extraction_metadata), config.fingerprint)


def _identified(drafts: Iterable[ChunkDraft], job: Job, stated: JsonObject, fingerprint: str) -> Iterator[Chunk]:
    for ordinal, draft in enumerate(drafts):
        draft = replace(draft, metadata={**draft.metadata, **stated}) if stated else draft
        yield identify(draft, job.owner_id, job.resource_id, job.version, ordinal, fingerprint)


def identify(draft: ChunkDraft, owner_id: str, resource_id: str, version: int, ordinal: int, fingerprint: str) -> Chunk:
    """Give a draft its identity."""
    return Chunk(
        id=chunk_id(resource_id, version, fingerprint, ordinal),
        owner_id=owner_id,
        resource_id=resource_id,
        version=version,
        ordinal=ordinal,
        type=draft.type,
        text=draft.text,
        context=draft.context,
        locator=draft.locator,
        pieces=draft.pieces,
        token_count=draft.token_count,
        metadata=draft.metadata,
    )


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def fail_indexing(jobs: JobRepository, job: Job, error: CitewellError) -> None:
    """End a job as PARTIAL: what was extracted stays listed and readable."""
    async with jobs.fenced(job) as connection:
        await jobs.finish(
            connection,
            job,
            Status.PARTIAL,
            {"code": error.code},
            error_stage=ErrorStage.INDEXING,
            error_code=error.code,
            error_message=error.message,
        )


async def _batches(chunks: Iterator[Chunk]) -> AsyncIterator[list[Chunk]]:
    """Batches of chunks; the chunker runs in a thread, one batch at a time."""
    while batch := await asyncio.to_thread(lambda: list(itertools.islice(chunks, _BATCH))):
        yield batch


def _about(resource: Resource) -> list[ChunkDraft]:
    """The descriptions of a data file's tables, or of a picture, indexed in addition to its content."""
    if resource.detected_category == Category.IMAGE:
        return [describe_picture(resource.filename, resource.extraction_metadata)]
    return describe_tables(resource.extraction_metadata)


def _pictures(resource: Resource, elements: Sequence[Element]) -> list[ChunkDraft]:
    """A chunk for each picture without words inside a file uploaded with `multimodal`: its vector is that of the picture."""
    if not resource.options.multimodal or resource.detected_category == Category.IMAGE:
        return []
    shown = [element for element in elements if element.type is ElementType.IMAGE and element.blob is not None]
    in_words = {element.blob for element in shown if element.text.strip()}
    return [describe_shown(resource.filename, element) for element in shown if element.blob not in in_words]


def _language(resource: Resource, elements: Sequence[Element]) -> str | None:
    """What a document states comes before what its texts tell; of data, whose language is seldom stated, the texts come first."""
    if resource.detected_category != Category.DATA:
        return resource.language or language_of(elements, is_data=False)
    told = language_of(elements, is_data=True)
    return told if resource.indexed_at is not None else told or resource.language


def _first_text(drafts: Sequence[ChunkDraft]) -> str | None:
    return drafts[0].text if drafts else None
