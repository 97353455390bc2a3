"""Short texts, with all of their owner that wait at the same time: read by one process, embedded in one batch, and stored in shared transactions.

Only a first attempt takes this way. Whatever goes wrong, the files concerned continue one by one with the usual stages.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from citewell.chunk.config import Strategy
from citewell.indexes.writing import is_embedded, write_chunks
from citewell.ingest.capture import content_hash
from citewell.ingest.finishing import Finishing
from citewell.ingest.identity import identified
from citewell.ingest.indexing import MAX_SHORT, IndexingStage, file_language
from citewell.ingest.parser_scratch import read_element_lines
from citewell.ingest.parsers import ParserPool
from citewell.ingest.summaries.step import Description
from citewell.ports import BlobStore
from citewell.ports.metering import OnSpent, reported
from citewell.storage.files.content import (
    ContentRepository,
    delete_chunks,
    delete_elements,
    insert_chunks,
    insert_elements,
)
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.payload_changes import PayloadChangeRepository, stated_of
from citewell.system.disk import disk_errors
from citewell.types import (
    SUMMARY_OF,
    Category,
    Chunk,
    Element,
    ErrorStage,
    ExtractionSummary,
    ExtractOptions,
    FileFacts,
    Job,
    Resource,
    Searchable,
    Stage,
    Status,
)

log = logging.getLogger(__name__)
READERS = ("plain", "markdown", "code", "transcript")
"""Readers that are Python alone; one with native code keeps a process for each file (decision 0003)."""


@dataclass(slots=True)
class _Short:
    """One of the files: what is known of it so far."""

    job: Job
    resource: Resource
    facts: FileFacts
    summary: ExtractionSummary
    lines: Sequence[tuple[int, Element, str]]
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    description: Description = Description(None)
    said: list[Chunk] = field(default_factory=list[Chunk])

    @property
    def elements(self) -> list[Element]:
        return [element for _, element, _ in self.lines]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortFiles:
    """Takes short texts through all stages together."""

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    payloads: PayloadChangeRepository
    blobs: BlobStore
    parsers: ParserPool
    indexing: IndexingStage
    finishing: Finishing
    scratch: Path
    limits: ExtractOptions
    on_spent: OnSpent

    async def run(self, jobs: Sequence[Job]) -> list[Job]:
        """Process the jobs' files, all of one owner. Returns those left to the usual stages, each with the stage that continues it."""
        left = {job.resource_id: job for job in jobs}
        folder = self.scratch / f"{jobs[0].resource_id}-{jobs[0].fence}-short"
        try:
            async with reported(jobs[0].owner_id, self.on_spent):
                await self._run(jobs, folder, left)
        except Exception:  # one file must never stop the others, and each has its own attempt now
            log.info("%d short files are read one by one instead.", len(left), exc_info=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return list(left.values())

    async def _run(self, jobs: Sequence[Job], folder: Path, left: dict[str, Job]) -> None:
        started = time.monotonic()
        files = await self._cut(await self._read(jobs, folder))
        if not files:
            return
        read_ms = round((time.monotonic() - started) * 1000)
        held = await self.jobs.change_all([file.job for file in files], lambda c, h: self._store(c, files, h, read_ms))
        for file in files:  # a lease that was lost is somebody else's from here on
            del left[file.job.resource_id]
        files = [file for file in files if file.job.resource_id in held]
        left |= {file.job.resource_id: replace(file.job, stage=Stage.INDEX) for file in files}
        await self._write(files, [file.chunks for file in files])
        if not self.finishing.summariser.writes:
            await self._describe(files)
            await self._write(files, [file.said for file in files])
        took = round((time.monotonic() - started) * 1000) - read_ms
        held = await self.jobs.change_all([file.job for file in files], lambda c, h: self._finish(c, files, h, took))
        for file in files:
            del left[file.job.resource_id]
            if file.job.resource_id in held:
                self.indexing.on_indexed(file.facts.language)
            else:
                await self.finishing.forget_deleted(file.job)

    async def _read(self, jobs: Sequence[Job], folder: Path) -> list[_Short]:
        """Read the files that are as they seemed at upload; the others are left to the usual stages."""
        ids, owner_id = [job.resource_id for job in jobs], jobs[0].owner_id
        found = {resource.id: (resource, key) for resource, key in await self.resources.several(owner_id, ids)}
        known = await self.payloads.facts(ids)
        wanted = [job for job in jobs if job.resource_id in found and _suits(found[job.resource_id][0])]
        async with contextlib.AsyncExitStack() as stack:
            copies = [self.blobs.local_copy(found[job.resource_id][1]) for job in wanted]
            paths = await asyncio.gather(*map(stack.enter_async_context, copies))
            hashes = await asyncio.to_thread(lambda: [content_hash(path) for path in paths])
            whole = [
                (job, path)
                for job, path, digest in zip(wanted, paths, hashes, strict=True)
                if digest == found[job.resource_id][0].bytes_hash
            ]
            if not whole:
                return []
            with disk_errors():
                folder.parent.mkdir(parents=True, exist_ok=True)
            options = replace(self.limits, readers=READERS)
            named = [(path, found[job.resource_id][0].filename) for job, path in whole]
            parts = await self.parsers.parse_together(named, options, folder)

        def collected() -> list[_Short]:
            return [
                _short(job, found[job.resource_id][0], known[job.resource_id], part.outcome, part.folder)
                for (job, _), part in zip(whole, parts, strict=True)
                if isinstance(part.outcome, ExtractionSummary) and _is_text(part.outcome) and job.resource_id in known
            ]

        return await asyncio.to_thread(collected)

    async def _cut(self, files: Sequence[_Short]) -> list[_Short]:
        """Cut the files into chunks; those with none or many are left to the usual stages."""
        configs = {file.job.resource_id: await self.indexing.config(file.job, file.resource) for file in files}
        cutting = [
            (file, self.indexing.chunks(file.job, file.resource, file.elements, config))
            for file in files
            if (config := configs[file.job.resource_id]).strategy is not Strategy.SEMANTIC
        ]

        def cut() -> list[_Short]:
            for file, chunks in cutting:
                file.chunks = list(chunks)
            return [file for file, _ in cutting if 0 < len(file.chunks) <= MAX_SHORT]

        return await asyncio.to_thread(cut)

    def _store(self, connection: sa.Connection, files: Sequence[_Short], held: set[str], took: int) -> set[str]:
        """Store what was read and cut. Passages come before their points, which must not show what SQL lacks."""
        kept = [file for file in files if file.job.resource_id in held]
        for file in kept if any(file.job.attempt > 1 for file in kept) else ():
            delete_chunks(connection, file.job.resource_id)
            delete_elements(connection, file.job.resource_id, file.job.version)
        for file in kept:
            insert_elements(connection, file.job.resource_id, file.job.version, file.lines)
        insert_chunks(connection, [chunk for file in kept for chunk in file.chunks])
        details: list[tuple[Job, Status, dict[str, Any]]] = []
        for file in kept:
            details.append((file.job, Status.EXTRACTED, {"elements": file.summary.coverage.elements}))
            details.append((file.job, Status.INDEXING, {"attempt": file.job.attempt}))
        self.jobs.note_all(connection, [(file.job, _read_values(file, took)) for file in kept], details)
        return held

    async def _write(self, files: Sequence[_Short], chunks: Sequence[Sequence[Chunk]]) -> None:
        """Add these chunks of each file to every index, in one batch."""
        batch = [chunk for some in chunks for chunk in some]
        facts = [file.facts for file, some in zip(files, chunks, strict=True) for _ in some]
        for index in self.indexing.indexes.all if batch else ():
            await write_chunks(index, batch, [is_embedded(chunk, 0, 0) for chunk in batch], facts)

    async def _describe(self, files: Sequence[_Short]) -> None:
        """Quote a summary of each file; only one of several passages needs vectors for it."""
        active = self.indexing.indexes.active
        ids = [chunk.id for file in files if len(file.chunks) > 1 for chunk in file.chunks]
        vectors = await active.store.vectors(ids) if ids else {}

        def describe() -> None:
            for file in files:
                file.description = self.finishing.summariser.quoted(
                    file.resource, file.elements, file.facts.language, active, file.chunks, vectors
                )
                file.said = list(identified(file.description.drafts, file.job, SUMMARY_OF, len(file.chunks)))

        await asyncio.to_thread(describe)

    def _finish(self, connection: sa.Connection, files: Sequence[_Short], held: set[str], took: int) -> set[str]:
        """End the jobs, or leave only the description to stage 3 if a model writes it."""
        kept = [file for file in files if file.job.resource_id in held]
        insert_chunks(connection, [chunk for file in kept for chunk in file.said])
        is_over = not self.finishing.summariser.writes
        values = {
            "indexed_at": time.time(),
            "searchable": Searchable.FULL,
            "indexing_duration_ms": took,
            "error_stage": None if is_over else ErrorStage.DESCRIPTION,
        }
        ended = [
            (file.job, values | {"chunk_count": count, "summary": file.description.text}, {"chunks": count})
            for file in kept
            for count in [len(file.chunks) + len(file.said)]
        ]
        self.jobs.finish_all(connection, ended, Status.INDEXED if is_over else Status.EXTRACTED)
        return held


def _suits(resource: Resource) -> bool:
    """Whether nothing but the bytes decides what is read and indexed."""
    options = resource.options
    return not (options.multimodal or options.caption or options.password)


def _is_text(summary: ExtractionSummary) -> bool:
    is_read = summary.detected.category == Category.RAG and summary.detected.extractor in READERS
    return is_read and not (summary.blobs or summary.children)


def _short(job: Job, resource: Resource, facts: FileFacts, summary: ExtractionSummary, folder: Path) -> _Short:
    lines = [(ordinal, element, line) for ordinal, (element, line) in enumerate(read_element_lines(folder))]
    read = replace(
        resource,
        detected_category=summary.detected.category,
        type=summary.detected.label,
        language=summary.language,
        extraction_metadata=_metadata(summary),
    )
    facts = replace(
        facts,
        type=read.type,
        category=read.detected_category,
        language=file_language(read, [element for _, element, _ in lines]),
        stated=stated_of(read.extraction_metadata),
    )
    return _Short(job, read, facts, summary, lines)


def _metadata(summary: ExtractionSummary) -> dict[str, Any]:
    mismatch = summary.detected.mismatch
    return dict(summary.metadata) | ({"type_mismatch": mismatch} if mismatch else {})


def _read_values(file: _Short, took: int) -> Mapping[str, Any]:
    """The columns that stages 2 and 3 set once the file was read."""
    return {
        "status": Status.INDEXING,
        "mime_type": file.summary.detected.mime_type,
        "detected_category": file.resource.detected_category,
        "type": file.resource.type,
        "extraction_metadata": file.resource.extraction_metadata,
        "coverage": file.summary.coverage.to_json(),
        "language": file.facts.language,
        "extracted_at": time.time(),
        "extraction_duration_ms": took,
        "options": asdict(replace(file.resource.options, password=None)),
    }
