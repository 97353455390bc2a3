"""Stage 2: read a file in the parser pool and store the result: elements, coverage, blobs, and the files inside it."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from citewell.errors import CitewellError, DamagedFile
from citewell.ingest.adoption import Adoption
from citewell.ingest.blob_keys import extracted_key
from citewell.ingest.capture import content_hash
from citewell.ingest.early_words import EarlyWords
from citewell.ingest.journal import BlobJournal
from citewell.ingest.parser_scratch import read_element_lines
from citewell.ingest.parsers import ParserPool
from citewell.ports import BlobStore
from citewell.storage.files.content import ContentRepository, delete_elements, insert_elements, replace_blobs
from citewell.storage.files.likenesses import replace_likenesses
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.work.jobs import JobRepository
from citewell.system.disk import disk_errors
from citewell.types import (
    LIKENESS,
    Element,
    ErrorStage,
    ExtractedBlob,
    ExtractionSummary,
    ExtractOptions,
    Job,
    Resource,
    Stage,
    Status,
    StoredBlob,
)

_ELEMENTS_PER_TRANSACTION = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionStage:
    """Runs stage 2 of one job. Repeating it after a crash gives the same result."""

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    blobs: BlobStore
    journal: BlobJournal
    parsers: ParserPool
    adoption: Adoption
    scratch: Path
    limits: ExtractOptions
    early: EarlyWords

    async def run(self, job: Job) -> Sequence[Stage]:
        """Extract the job's resource. Returns the stages that then have work, because files inside it must be read too.

        Raises an `ExtractionError` if it cannot be read, and `LeaseLost` if another worker took over.
        """
        started = time.monotonic()
        resource = await self.resources.get(job.owner_id, job.resource_id)
        folder = self.scratch / f"{job.resource_id}-{job.fence}"
        try:
            with disk_errors():
                folder.mkdir(parents=True, exist_ok=True)
            async with self.early.beside(job, resource, folder) as reading:
                summary = await self._parse(resource, folder)
                if summary.detected.extractor is None:
                    await self._store_unread(job, resource, summary)
                    return ()
                await self._keep(job, resource, summary, folder, started, await reading.elements())
                return (Stage.INDEX, Stage.EXTRACT) if summary.children else (Stage.INDEX,)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _parse(self, resource: Resource, folder: Path) -> ExtractionSummary:
        options = replace(
            self.limits,
            password=resource.options.password,
            extract_tables=resource.options.extract_tables,
            extract_images=resource.options.extract_images,
            multimodal=resource.options.multimodal,
            depth=await self._depth(resource),
        )
        original = await self.resources.original(resource.owner_id, resource.id, resource.version)
        async with self.blobs.local_copy(original.key) as source:
            if await asyncio.to_thread(content_hash, source) != original.content_hash:
                raise DamagedFile
            return await self.parsers.parse(source, original.filename, options, folder)

    async def _depth(self, resource: Resource) -> int:
        depth, parent = 0, resource.parent_id
        while parent is not None:
            depth += 1
            parent = (await self.resources.get(resource.owner_id, parent)).parent_id
        return depth

    async def _store_unread(self, job: Job, resource: Resource, summary: ExtractionSummary) -> None:
        detected = summary.detected
        end = partial(
            self.jobs.finish,
            job=job,
            status=Status.STORED,
            error_code="no_reader",
            error_message=f"The file is stored, but Citewell cannot read its type ({detected.mime_type}), so it cannot be searched.",
            mime_type=detected.mime_type,
            detected_category=detected.category,
            type=detected.label,
            extraction_metadata=dict(summary.metadata) | _detection(summary),
            coverage=summary.coverage.to_json(),
            extracted_at=time.time(),
            options=asdict(replace(resource.options, password=None)),
        )
        await self.jobs.change(job, end)

    async def _keep(
        self, job: Job, resource: Resource, summary: ExtractionSummary, folder: Path, started: float, stored: int
    ) -> None:
        """Store what was read; the first `stored` elements already are."""
        likenesses = await asyncio.to_thread(_likenesses, summary, folder)
        kept = tuple(blob for blob in summary.blobs if blob.kind != LIKENESS)
        async with self._storing(job, replace(summary, blobs=kept), folder) as blobs:
            batches = _batches(folder, stored)
            first = await asyncio.to_thread(next, batches, [])
            is_short = len(first) < _ELEMENTS_PER_TRANSACTION
            if not is_short:
                await self._keep_elements(job, itertools.chain([first], batches), stored)
            notes = await self.adoption.run(job, resource, summary.children, folder)
            metadata = dict(summary.metadata) | _detection(summary) | ({"not_adopted": notes} if notes else {})

            def keep(connection: sa.Connection) -> None:
                if is_short:  # most files contain no others, and need only this transaction
                    delete_elements(connection, job.resource_id, job.version, stored)
                    insert_elements(connection, job.resource_id, job.version, first)
                replace_blobs(connection, job.resource_id, job.version, blobs)
                replace_likenesses(connection, job.resource_id, job.version, likenesses)
                self.jobs.finish(
                    connection,
                    job,
                    Status.EXTRACTED,
                    {"elements": summary.coverage.elements},
                    mime_type=summary.detected.mime_type,
                    detected_category=summary.detected.category,
                    type=summary.detected.label,
                    extraction_metadata=metadata,
                    coverage=summary.coverage.to_json(),
                    language=summary.language,
                    extracted_at=time.time(),
                    extraction_duration_ms=round((time.monotonic() - started) * 1000),
                    options=asdict(replace(resource.options, password=None)),
                )

            await self.jobs.change(job, keep)

    @asynccontextmanager
    async def _storing(
        self, job: Job, summary: ExtractionSummary, folder: Path
    ) -> AsyncGenerator[Sequence[StoredBlob]]:
        """Store a version's new blobs, let the block commit their rows, then remove the previous blobs."""
        old = [blob.key for blob in await self.content.blobs(job.resource_id, job.version)]
        new = [extracted_key(job.owner_id, job.resource_id, job.version, n) for n in range(len(summary.blobs))]
        with self.journal.begun([*old, *new], remade=True):
            try:
                yield [await self._store_blob(b, key, folder) for b, key in zip(summary.blobs, new, strict=True)]
            except CitewellError:  # the rows are unchanged
                for key in new:
                    await self.blobs.delete(key)
                self.journal.end([*old, *new])
                raise
            for key in old:
                await self.blobs.delete(key)

    async def _store_blob(self, blob: ExtractedBlob, key: str, folder: Path) -> StoredBlob:
        path = folder / blob.path
        size = path.stat().st_size
        await self.blobs.put_file(key, path)
        return StoredBlob(
            name=blob.name, key=key, mime_type=blob.mime_type, kind=blob.kind, size=size, metadata=blob.metadata
        )

    async def _keep_elements(
        self, job: Job, batches: Iterator[Sequence[tuple[int, Element, str]]], stored: int
    ) -> None:
        place: dict[str, Any] = {"resource_id": job.resource_id, "version": job.version}
        await self.jobs.change(job, partial(delete_elements, **place, first=stored))
        while batch := await asyncio.to_thread(next, batches, None):
            await self.jobs.change(job, partial(insert_elements, **place, lines=batch))


async def fail_extraction(jobs: JobRepository, job: Job, error: CitewellError) -> None:
    """End a job as FAILED with the reason; the password, if one was given, is wiped."""

    def fail(connection: sa.Connection) -> None:
        options = jobs.options(connection, job)
        jobs.finish(
            connection,
            job,
            Status.FAILED,
            {"code": error.code},
            error_stage=ErrorStage.EXTRACTION,
            error_code=error.code,
            error_message=error.message,
            options=asdict(replace(options, password=None)),
        )

    await jobs.change(job, fail)


def _detection(summary: ExtractionSummary) -> dict[str, str]:
    return {"type_mismatch": summary.detected.mismatch} if summary.detected.mismatch else {}


def _likenesses(summary: ExtractionSummary, folder: Path) -> dict[str, bytes]:
    """What finds each picture by an example, by the picture's name."""
    found = (blob for blob in summary.blobs if blob.kind == LIKENESS)
    return {str(blob.metadata["of"]): (folder / blob.path).read_bytes() for blob in found}


def _batches(folder: Path, skipped: int) -> Iterator[list[tuple[int, Element, str]]]:
    batch: list[tuple[int, Element, str]] = []
    for ordinal, (element, line) in itertools.islice(enumerate(read_element_lines(folder)), skipped, None):
        batch.append((ordinal, element, line))
        if len(batch) == _ELEMENTS_PER_TRANSACTION:
            yield batch
            batch = []
    if batch:
        yield batch
