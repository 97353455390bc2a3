"""The end of indexing: a file whose passages have their vectors is described, and reaches its terminal state."""

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
"""What may be over some minutes later: a file that ended by it goes on by itself, where it is found by words already."""
_RESUME_SECONDS = 300.0


@dataclass(slots=True)
class Written:
    """The chunks that were written of a resource: how many, and where they are few, themselves."""

    chunks: int = 0
    passages: Sequence[Chunk] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finishing:
    """Describes and ends files. Repeating it gives the same result.

    attempts: how often a description is tried while its provider is unavailable
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

        A provider's error in the description is raised while another attempt may help, else it makes the resource PARTIAL.
        unseen: why a picture was not described; values: for columns of the row; written: the chunks, where all of them are new
        """
        written = written or Written()
        count = written.chunks or await self.forget_summary(job)
        about = Passages(self.content, resource.id, written.passages)
        description = await self.summariser.run(resource, elements, file.language, self.indexes.active, about)
        error = unseen if resource.detected_category == Category.IMAGE and unseen is not None else description.error
        summary = list(identified(description.drafts, job, SUMMARY_OF, count))  # behind the content
        if summary:  # nothing shows these points before their rows are there
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
        """What every point tells of the file of a job."""
        known = await self.payloads.facts([job.resource_id])
        if job.resource_id not in known:
            raise NotFound("There is no such resource, or it is not yours.")
        return known[job.resource_id]

    async def forget_summary(self, job: Job) -> int:
        """Remove an earlier summary; returns how many chunks of content there are."""
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
            with contextlib.suppress(ProviderError, Unavailable, DiskFull):  # such points are never shown
                await index.store.delete(Filter(owner_id=job.owner_id, resource_ids=(job.resource_id,)))


async def fail_indexing(jobs: JobRepository, job: Job, error: CitewellError) -> None:
    """End a job as PARTIAL: what was extracted stays listed and readable, and what is found by words is found."""
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
    """How a resource ends; a picture is DESCRIBED by a vision model only, and INDEXED by its text and facts."""
    if resource.detected_category == Category.DATA:
        return Status.ANALYZED
    if resource.detected_category in (Category.IMAGE, Category.VIDEO) and any(
        is_description(element) for element in elements
    ):
        return Status.DESCRIBED
    return Status.INDEXED
