"""The last step of indexing: describes a file whose passages have their vectors, and sets its terminal state."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa

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
from citewell.ingest.identity import identified
from citewell.ingest.summaries.step import Passages, Summariser
from citewell.ingest.vision import is_description
from citewell.storage.files.content import ContentRepository, delete_chunks, insert_chunks
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.payload_changes import PayloadChangeRepository
from citewell.types import (
    SUMMARY_OF,
    Category,
    Chunk,
    ChunkType,
    Element,
    ErrorStage,
    FileFacts,
    Filter,
    Job,
    Resource,
    Searchable,
    Status,
)

_MAX_SUMMARIES = 10_000
RESUMED = (ProviderRateLimited, ProviderUnavailable, Unavailable)
"""Errors that may pass within minutes: a file that is already searchable by words is retried automatically."""
_RESUME_SECONDS = 300.0


@dataclass(slots=True)
class Written:
    """The chunks written for a resource: their number and, if they are few, the chunks themselves."""

    chunks: int = 0
    passages: Sequence[Chunk] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finishing:
    """Describes files and sets their terminal state. Repeating it gives the same result.

    attempts: how often a description is attempted while its provider is unavailable
    """

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    payloads: PayloadChangeRepository
    indexes: IndexSet
    summariser: Summariser
    attempts: int

    async def run(
        self,
        job: Job,
        resource: Resource,
        elements: Sequence[Element],
        file: FileFacts,
        values: Mapping[str, Any],
        unseen: ProviderError | None = None,
        written: Written | None = None,
    ) -> None:
        """Describe a resource whose content is in every index, and end the job.

        A provider's error is raised while another attempt may help; otherwise it makes the resource PARTIAL.
        unseen: why a picture was not described; values: for columns of the row; written: the chunks, if all of them are new
        """
        written = written or Written()
        count = written.chunks or await self.forget_summary(job)
        about = Passages(self.content, resource.id, written.passages)
        description = await self.summariser.run(resource, elements, file.language, self.indexes.active, about)
        error = unseen if resource.detected_category == Category.IMAGE and unseen is not None else description.error
        summary = list(identified(description.drafts, job, SUMMARY_OF, count))  # after the content
        if summary:  # searches show these points only once their rows exist
            dense, _ = mark_embedded(summary, 0, 0)
            for index in self.indexes.all:
                await write_points(index, summary, dense, file)
        again = isinstance(error, ProviderRateLimited | ProviderUnavailable) and job.attempt < self.attempts
        done = dict(values) | {
            "chunk_count": count + len(summary),
            "summary": description.text,
            "indexed_at": time.time(),
            "searchable": Searchable.FULL,
        }

        def end(connection: sa.Connection) -> None:
            insert_chunks(connection, summary)
            if error is not None and again:
                self.jobs.note(connection, job, error_stage=ErrorStage.DESCRIPTION, **done)
            else:
                self.jobs.finish(
                    connection,
                    job,
                    Status.PARTIAL if error is not None else _final(resource, elements),
                    {"chunks": count + len(summary)},
                    error_code=error.code if error is not None else None,
                    error_stage=ErrorStage.DESCRIPTION if error is not None else None,
                    error_message=error.message if error is not None else None,
                    **done,
                )

        await self.jobs.change(job, end)
        if error is not None and again:
            raise error

    async def facts(self, job: Job) -> FileFacts:
        """The payload that every point of the job's file has."""
        known = await self.payloads.facts([job.resource_id])
        if job.resource_id not in known:
            raise NotFound("The resource does not exist, or you have no access to it.")
        return known[job.resource_id]

    async def forget_summary(self, job: Job) -> int:
        """Remove an earlier summary. Returns the number of content chunks."""
        summaries = await self.content.passages(job.resource_id, [ChunkType.SUMMARY], _MAX_SUMMARIES)
        old = [chunk.id for chunk in summaries if SUMMARY_OF in chunk.metadata]
        if old:
            await self.jobs.change(job, lambda connection: delete_chunks(connection, job.resource_id, old))
            for index in self.indexes.all:
                await index.store.delete_ids(old)
        return await self.content.count_of(job.resource_id)

    async def forget_deleted(self, job: Job) -> None:
        """Remove the points of a resource that was deleted while it was being indexed; some may have been written after its deletion."""
        if await self.resources.owned(job.owner_id, [job.resource_id]):
            return
        for index in self.indexes.all:
            with contextlib.suppress(ProviderError, Unavailable, DiskFull):  # such points never appear in results
                await index.store.delete(Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,)))


async def fail_indexing(jobs: JobRepository, job: Job, error: CitewellError) -> None:
    """End a job as PARTIAL: what was extracted stays listed and readable, and searchable by words if it was."""
    end = partial(
        jobs.finish,
        job=job,
        status=Status.PARTIAL,
        details={"code": error.code},
        error_stage=ErrorStage.INDEXING,
        error_code=error.code,
        error_message=error.message,
        not_before=time.time() + _RESUME_SECONDS if isinstance(error, RESUMED) else 0,
    )
    await jobs.change(job, end)


def _final(resource: Resource, elements: Sequence[Element]) -> Status:
    """The terminal state. A picture is DESCRIBED only by a vision model, and otherwise INDEXED by its text and facts."""
    if resource.detected_category == Category.DATA:
        return Status.ANALYZED
    if resource.detected_category in (Category.IMAGE, Category.VIDEO) and any(
        is_description(element) for element in elements
    ):
        return Status.DESCRIBED
    return Status.INDEXED
