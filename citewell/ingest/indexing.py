"""Stage 3: cut elements into chunks, embed them, put them into every open index, and describe the resource."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.errors import (
    CitewellError,
    DiskFull,
    NotFound,
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
    Unavailable,
)
from citewell.indexes.index_set import IndexSet
from citewell.indexes.writing import mark_embedded, write_points
from citewell.ingest.chunking import chunk_title, config_of, sentence_embedder
from citewell.ingest.describe import captioned, describe_picture, describe_shown, describe_tables, describe_video
from citewell.ingest.language import language_of
from citewell.ingest.summaries.step import Description, Summariser
from citewell.ingest.vision import ImageDescriber, is_description
from citewell.metering import OnSpent, reported
from citewell.ports import multimodal
from citewell.storage.content import ContentRepository, delete_chunks, insert_chunks
from citewell.storage.jobs import JobRepository
from citewell.storage.payload_changes import PayloadChangeRepository
from citewell.storage.projects import ProjectRepository
from citewell.storage.resources import ResourceRepository
from citewell.types import (
    SUMMARY_OF,
    Category,
    Chunk,
    ChunkDraft,
    ChunkType,
    Element,
    ElementType,
    ErrorStage,
    FileFacts,
    Filter,
    Job,
    Locator,
    Resource,
    Status,
)

_NAMESPACE = uuid.UUID("7b7d4c0e-5d0f-5c57-9a53-9e2f6a3f1c11")
_BATCH = 256
_BATCHES_AT_ONCE = 3
_MAX_SUMMARIES = 10_000
_LAST_CALLS_SECONDS = 10.0


def chunk_id(resource_id: str, version: int, fingerprint: str, ordinal: int) -> str:
    """UUIDv5 of everything that determines a chunk, so that repeating the work gives the same ids."""
    return str(uuid.uuid5(_NAMESPACE, f"{resource_id}/{version}/{fingerprint}/{ordinal}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingStage:
    """Runs stage 3 of one job. Repeating it after a crash gives the same chunks and points.

    Content is indexed first, then described. Where only the description failed, a retry repeats only that.
    attempts: how often the stage is tried while a provider is unavailable
    """

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    projects: ProjectRepository
    payloads: PayloadChangeRepository
    indexes: IndexSet
    describer: ImageDescriber
    summariser: Summariser
    attempts: int
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
        read = len(elements)
        sees = any(multimodal(index.embedder) is not None for index in self.indexes.all)
        elements, coverage, unseen = await self.describer.run(job, resource, elements, is_seen=sees)
        language = await asyncio.to_thread(_language, resource, elements)
        file = await self._facts(job, language)
        config = await self._config(job, resource)
        known = await self.content.chunk_ids(job.resource_id)
        first = chunk_id(job.resource_id, job.version, config.fingerprint, 0)
        if resource.error_stage == ErrorStage.DESCRIPTION and first in known and len(elements) == read:
            count = await self._forget_summary(job)
        else:
            count = await self._replace_chunks(job, resource, elements, file, known, config)
        description = await self.summariser.run(resource, elements, language, self.indexes.active)
        if resource.detected_category == Category.IMAGE and unseen is not None:
            description = replace(description, error=unseen)
        count += await self._add_summary(job, description.drafts, count, file)
        values: dict[str, Any] = {
            "chunk_count": count,
            "language": language,
            "summary": description.text,
            "coverage": coverage.to_json() if coverage is not None else None,
            "indexed_at": time.time(),
            "indexing_duration_ms": round((time.monotonic() - started) * 1000),
        }
        await self._finish(job, resource, elements, description, values)

    async def _finish(
        self,
        job: Job,
        resource: Resource,
        elements: Sequence[Element],
        description: Description,
        values: dict[str, Any],
    ) -> None:
        """End the job; a provider's error in the description is raised while another attempt may help, else it makes the resource PARTIAL."""
        error = description.error
        again = isinstance(error, ProviderRateLimited | ProviderUnavailable) and job.attempt < self.attempts
        async with self.jobs.fenced(job) as connection:
            if error is not None and again:
                await self.jobs.note(connection, job, error_stage=ErrorStage.DESCRIPTION, **values)
            else:
                await self.jobs.finish(
                    connection,
                    job,
                    Status.PARTIAL if error is not None else _final(resource, elements),
                    {"chunks": values["chunk_count"]},
                    error_code=error.code if error is not None else None,
                    error_stage=ErrorStage.DESCRIPTION if error is not None else None,
                    error_message=error.message if error is not None else None,
                    **values,
                )
        if error is not None and again:
            raise error

    async def _add_summary(self, job: Job, drafts: Sequence[ChunkDraft], first: int, file: FileFacts) -> int:
        """Store and index a summary's chunks behind the content, whose last ordinal is `first` - 1; returns how many."""
        chunks = list(_identified(drafts, job, SUMMARY_OF, first))
        if chunks:
            async with self.jobs.fenced(job) as connection:
                await insert_chunks(connection, chunks)
            await self._write(chunks, [True] * len(chunks), file)
        return len(chunks)

    async def _forget_summary(self, job: Job) -> int:
        """Remove an earlier summary; returns how many chunks of content there are."""
        summaries = await self.content.passages(job.resource_id, [ChunkType.SUMMARY], _MAX_SUMMARIES)
        old = [chunk.id for chunk in summaries if SUMMARY_OF in chunk.metadata]
        async with self.jobs.fenced(job) as connection:
            await delete_chunks(connection, job.resource_id, old)
        for index in self.indexes.all:
            await index.store.delete_ids(old)
        return len(await self.content.chunk_ids(job.resource_id))

    async def forget_deleted(self, job: Job) -> None:
        """Remove the points of a resource that was deleted while it was being indexed; some may have been written after its deletion."""
        if await self.resources.owned(job.owner_id, [job.resource_id]):
            return
        for index in self.indexes.all:
            with contextlib.suppress(ProviderError, Unavailable, DiskFull):  # such points are never shown
                await index.store.delete(Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,)))

    async def _replace_chunks(
        self,
        job: Job,
        resource: Resource,
        elements: Sequence[Element],
        file: FileFacts,
        stale: set[str],
        config: ChunkConfig,
    ) -> int:
        """Chunk, store and embed in overlapping batches, then remove the resource's previous chunks. Returns the number of chunks."""
        chunks = self._chunks(job, resource, elements, config)
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
                writing.append(asyncio.create_task(self._write(batch, dense, file)))
                if len(writing) == _BATCHES_AT_ONCE:
                    await _written(writing)
            while writing:
                await _written(writing)
        finally:
            await self._end(writing)
        await self._settle(job, file, count, stale)
        return count

    async def _end(self, writing: Collection[asyncio.Task[None]]) -> None:
        """Stop writing. Calls to a vendor that are under way will be paid for, so they get some seconds to bring their vectors to the cache."""
        if writing and any(index.is_remote for index in self.indexes.all):
            await asyncio.wait(writing, timeout=_LAST_CALLS_SECONDS)
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)

    async def _facts(self, job: Job, language: str | None) -> FileFacts:
        """What every point tells of the file; what is changed of it from now on is a payload change, made when this stage has ended."""
        known = await self.payloads.facts([job.resource_id])
        if job.resource_id not in known:
            raise NotFound("There is no such resource, or it is not yours.")
        return replace(known[job.resource_id], language=language)

    async def _write(self, batch: Sequence[Chunk], dense: Sequence[bool], file: FileFacts) -> None:
        """Embed a batch and put it into every open index."""
        for index in self.indexes.all:
            await write_points(index, batch, dense, file)

    async def _settle(self, job: Job, file: FileFacts, count: int, stale: set[str]) -> None:
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
                await write_points(index, page, dense, file)
                if cursor is None:
                    break

    async def _config(self, job: Job, resource: Resource) -> ChunkConfig:
        """How the resource is cut."""
        project = await self.projects.settings(job.owner_id, resource.project_ids[0]) if resource.project_ids else {}
        return config_of(self.chunking, resource, project, self.indexes.active.embedder)

    def _chunks(
        self, job: Job, resource: Resource, elements: Sequence[Element], config: ChunkConfig
    ) -> Iterator[Chunk]:
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
        return _identified(drafts, job, config.fingerprint)


def _identified(drafts: Iterable[ChunkDraft], job: Job, fingerprint: str, first: int = 0) -> Iterator[Chunk]:
    for ordinal, draft in enumerate(drafts, start=first):
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


async def _written(writing: deque[asyncio.Task[None]]) -> None:
    """Wait for the first and take it out; it goes on where the waiting is cancelled."""
    await asyncio.wait({writing[0]})
    writing.popleft().result()


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
    if resource.detected_category == Category.VIDEO:
        return [describe_video(resource.filename, resource.extraction_metadata)]
    if resource.detected_category == Category.IMAGE:
        return [describe_picture(resource.filename, resource.extraction_metadata)]
    return describe_tables(resource.extraction_metadata)


def caption_elements(caption: str | None) -> list[Element]:
    """A caption as the chunker takes it: a paragraph per line. None of it is stored: it is part of what was asked for."""
    lines = (caption or "").splitlines()
    return [
        Element(id=f"caption-{place}", type=ElementType.PARAGRAPH, text=line, locator=Locator())
        for place, line in enumerate(lines)
        if line.strip()
    ]


def _captioned(resource: Resource, said: Iterable[ChunkDraft], elements: Sequence[Element]) -> Iterable[ChunkDraft]:
    """What a caption's pieces become: of a picture or video, chunks that are embedded with it."""
    if resource.detected_category == Category.IMAGE:
        return captioned(said, None)
    frame = next((element for element in elements if element.type is ElementType.IMAGE and element.blob), None)
    if resource.detected_category == Category.VIDEO and frame is not None:
        return captioned(said, frame)
    return (replace(draft, pieces=()) for draft in said)


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


def _final(resource: Resource, elements: Sequence[Element]) -> Status:
    """How a resource ends; a picture is DESCRIBED by a vision model only, and INDEXED by its text and facts."""
    if resource.detected_category == Category.DATA:
        return Status.ANALYZED
    if resource.detected_category in (Category.IMAGE, Category.VIDEO) and any(
        is_description(element) for element in elements
    ):
        return Status.DESCRIBED
    return Status.INDEXED
