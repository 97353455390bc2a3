"""Stage 4: adds vectors to a file that is already searchable by its words, the most useful ones first."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from citewell.indexes.index_set import IndexSet
from citewell.indexes.writing import add_vectors
from citewell.ingest.finishing import Finishing
from citewell.ports.metering import OnSpent, reported
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.vectors.waiting_vectors import WaitingVectorRepository, embedded
from citewell.storage.work.jobs import JobRepository
from citewell.types import FileFacts, Job, Resource, Stage

# About three seconds of the built-in model on two cores: the work repeated after a kill, and the length of a turn while others wait.
_BATCH = 128
# Fewer, larger calls to vendors, which accept about this many texts at once.
_REMOTE_BATCH = 256
_BATCHES_AT_ONCE = 3
_LAST_CALLS_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingStage:
    """Runs turns of stage 4. Each batch of vectors is recorded after it is in every index, so a turn that dies loses only what was in flight."""

    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    waiting: WaitingVectorRepository
    indexes: IndexSet
    finishing: Finishing
    on_spent: OnSpent

    async def run(self, job: Job) -> Sequence[Stage]:
        """Continue with the vectors of the job's resource, to the end or until others wait for their turn.

        Raises `ProviderError` or `Unavailable`, and `LeaseLost` if another worker took over.
        """
        async with reported(job.owner_id, self.on_spent):
            resource = await self.resources.get(job.owner_id, job.resource_id)
            file = await self.finishing.facts(job)
            await self._embed(job, file)
            if await self.waiting.next(job.resource_id, 1):
                await self.jobs.pass_turn(job)
            else:
                await self._finish(job, resource, file)
        return ()

    async def _finish(self, job: Job, resource: Resource, file: FileFacts) -> None:
        batches = self.content.iterate_elements(job.resource_id, job.version)
        elements = [element async for batch in batches for element in batch]
        took = resource.indexing_duration_ms or 0
        if resource.indexed_at is not None:
            took += round((time.time() - resource.indexed_at) * 1000)
        await self.finishing.run(job, resource, elements, file, {"indexing_duration_ms": max(0, took)})

    async def _embed(self, job: Job, file: FileFacts) -> None:
        """Process overlapping batches; only one while other files wait."""
        under_way: deque[tuple[list[str], asyncio.Task[None]]] = deque()
        size = _REMOTE_BATCH if any(index.is_remote for index in self.indexes.all) else _BATCH
        started, is_over = 0, False
        try:
            while under_way or not is_over:
                while not is_over and len(under_way) < _BATCHES_AT_ONCE:
                    taken = {one for ids, _ in under_way for one in ids}
                    ids = await self.waiting.next(job.resource_id, size, taken)
                    is_over = not ids or (started > 0 and await self.jobs.others_wait(job))
                    if not is_over:
                        under_way.append((ids, asyncio.create_task(self._write(job, ids, file))))
                        started += 1
                if under_way:
                    await self._written(job, under_way)
        finally:
            await self._end([task for _, task in under_way])

    async def _write(self, job: Job, ids: list[str], file: FileFacts) -> None:
        """Embed chunks and add them to every open index, except those removed meanwhile."""
        stored = await self.content.load_chunks(job.owner_id, ids)
        chunks = [stored[one].chunk for one in ids if one in stored]
        for index in self.indexes.all:
            await add_vectors(index, chunks, file)

    async def _written(self, job: Job, under_way: deque[tuple[list[str], asyncio.Task[None]]]) -> None:
        """Wait for the first batch and record it as done. If the wait is canceled, the batch continues."""
        ids, task = under_way[0]
        await asyncio.wait({task})
        under_way.popleft()
        task.result()
        await self.jobs.change(job, lambda connection: embedded(connection, job.resource_id, ids))

    async def _end(self, tasks: Collection[asyncio.Task[None]]) -> None:
        """Stop. Calls in flight are paid for, so they get a few seconds to save their vectors to the cache."""
        if tasks and any(index.is_remote for index in self.indexes.all):
            await asyncio.wait(tasks, timeout=_LAST_CALLS_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
