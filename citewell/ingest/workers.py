"""The durable workflow: workers lease stages from the resource rows, keep the leases alive, and take every file to a terminal state."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from citewell.errors import (
    CitewellError,
    DamagedFile,
    DiskFull,
    ExtractionError,
    GaveUp,
    LeaseLost,
    NotFound,
    ProviderRateLimited,
    ProviderUnavailable,
    Unavailable,
    Unexpected,
)
from citewell.ingest.embedding import EmbeddingStage
from citewell.ingest.extraction import ExtractionStage, fail_extraction
from citewell.ingest.finishing import RESUMED, fail_indexing
from citewell.ingest.indexing import IndexingStage
from citewell.ingest.short_files import ShortFiles
from citewell.storage.work.jobs import JobRepository
from citewell.system.disk import DiskReserve
from citewell.system.tracing import span
from citewell.types import Job, Stage

log = logging.getLogger(__name__)
T = TypeVar("T")
_MAX_DEATHS = 25
_SHORT_TOGETHER = 32
_MAX_BACKOFF_SECONDS = 60.0
_RESUME_EVERY_SECONDS = 15.0
_TRANSIENT = (DiskFull, ProviderRateLimited, ProviderUnavailable, Unavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimits:
    """How many stages run at once, how often a stage is attempted (also while a database or object store is down), and how long a lease lasts.

    Each stage runs one extra job if an owner without a running job is waiting, so that no owner waits for another's large files.
    """

    extracting: int = 2
    indexing: int = 2
    max_attempts: int = 3
    outage_attempts: int = 12
    lease_seconds: float = 60.0
    poll_seconds: float = 1.0


class Workers:
    """Runs the stages of all waiting resources. Start it once, `wake` it after committing a row, and `stop` it before the stores close.

    short: reads short texts together; without it, each alone
    No stage starts while free disk space is below the reserve in `space`.
    """

    def __init__(
        self,
        *,
        name: str,
        jobs: JobRepository,
        extraction: ExtractionStage,
        indexing: IndexingStage,
        embedding: EmbeddingStage,
        limits: WorkerLimits,
        short: ShortFiles | None = None,
        space: DiskReserve | None = None,
    ) -> None:
        self.name = name
        self._space = space
        self._waits_for_space = False
        self._unwritten = 0  # stages that have ended but are not recorded yet
        self._jobs = jobs
        self._extraction = extraction
        self._indexing = indexing
        self._embedding = embedding
        self._short = short
        self._gathering = asyncio.Lock()
        self._resumed_at = 0.0
        self._limits = limits
        self._tasks: list[asyncio.Task[None]] = []
        self._free = {
            Stage.EXTRACT: limits.extracting,
            Stage.INDEX: limits.indexing,
            Stage.EMBED: limits.indexing,
        }
        self._wakeups = {(stage, newcomers): asyncio.Event() for stage in Stage for newcomers in (False, True)}

    def start(self) -> None:
        """Start working; call within the event loop that runs everything else."""
        for stage, count in self._free.items():
            self._tasks += [asyncio.create_task(self._loop(stage), name=f"{stage}-{i}") for i in range(count)]
            self._tasks.append(asyncio.create_task(self._loop(stage, newcomers=True), name=f"{stage}-newcomers"))

    def wake(self, *stages: Stage) -> None:
        """Look for new work of these stages now rather than at the next poll; by default stages 2 and 3, because stage 4
        continues after stage 3."""
        for stage in stages or (Stage.EXTRACT, Stage.INDEX):
            self._look(stage)
            self._wakeups[stage, True].set()

    async def stop(self) -> None:
        """Stop at once; unfinished work is resumed after its lease."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        try:
            await self._jobs.release_all(self.name, died=False)
        except DiskFull as error:
            log.error("%s Unfinished work continues after the next start.", error.message)

    async def drain(self) -> None:
        """Wait until no work is waiting or running (for in-process use and tests)."""
        while await self._jobs.waiting():  # noqa: ASYNC110 - the rows are the truth, and other processes may write them
            await asyncio.sleep(0.02)

    async def _loop(self, stage: Stage, *, newcomers: bool = False) -> None:
        wakeup = self._wakeups[stage, newcomers]
        while True:
            wakeup.clear()
            job = None if newcomers and self._free[stage] else await self._claim(stage, newcomers)
            if job is None:
                if stage is Stage.EMBED:
                    await self._resume()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wakeup.wait(), self._limits.poll_seconds)
                continue
            self._look(*await self._run(job, slots=0 if newcomers else 1))

    def _look(self, *stages: Stage) -> None:
        for stage in stages:
            self._wakeups[stage, False].set()

    async def _resume(self) -> None:
        """Periodically retry files whose attempts ended while an embedder or store was down."""
        now = time.monotonic()
        if now - self._resumed_at < _RESUME_EVERY_SECONDS:
            return
        self._resumed_at = now
        try:
            await self._jobs.resume_embedding([error.code for error in RESUMED], self._limits.max_attempts - 1)
        except Exception:  # the database may be unavailable for a while, and the loop must survive that
            log.exception("looking for files to retry failed; retrying")

    async def _claim(self, stage: Stage, newcomers: bool) -> Job | None:
        try:
            if self._space is not None:
                self._space.require()
            job = await self._jobs.claim(stage, self.name, newcomers=newcomers)
        except DiskFull as error:
            self._wait_for_space(error)
        except Exception:  # the database may be unavailable for a while, and the loop must survive that
            log.exception("claiming work failed; retrying")
        else:
            if not self._unwritten:
                self._go_on()
            return job
        await asyncio.sleep(self._limits.poll_seconds)
        return None

    def _wait_for_space(self, error: DiskFull) -> None:
        """Log once that work is waiting, not at every check."""
        if not self._waits_for_space:
            log.error("no file is read or indexed for now: %s", error.message)
        self._waits_for_space = True

    def _go_on(self) -> None:
        if self._waits_for_space:
            log.info("There is space on the disk again; work continues.")
        self._waits_for_space = False

    async def _run(self, job: Job, slots: int) -> Sequence[Stage]:
        """Run one attempt, which takes `slots` of the stage's slots, and write its outcome to the row. Returns the stages that then have work."""
        self._free[job.stage] -= slots
        try:
            if job.is_short and self._short is not None:
                return await self._together(job, self._short)
            return await self._attempt(job)
        finally:
            self._free[job.stage] += slots

    async def _together(self, first: Job, short: ShortFiles) -> Sequence[Stage]:
        """Run a short text together with others of its owner that wait; those left continue with the usual stages, one by one."""
        jobs = left = [first]
        try:
            async with self._gathering:  # meanwhile, others arrive, and the next group is larger
                jobs = [first, *await self._jobs.claim_short(first, _SHORT_TOGETHER - 1)]
                with span("stage short", links=[(job.resource_id, job.version) for job in jobs]) as spanning:
                    left = await self._with_lease(jobs, short.run(jobs))
                    spanning.note(citewell__files=len(jobs), citewell__left=len(left))
        except LeaseLost:
            for job in jobs:
                await self._forget_deleted(job)
            return ()
        except Exception:  # the database may be unavailable for a while, and the loop must survive that
            log.exception("reading short files together failed")
        stages: set[Stage] = {Stage.INDEX}  # a description that a model writes
        for job in left:
            stages.update(await self._attempt(job))
        return tuple(stages)

    async def _attempt(self, job: Job) -> Sequence[Stage]:
        work: Callable[[Job], Awaitable[Sequence[Stage]]] = {
            Stage.EXTRACT: self._extraction.run,
            Stage.INDEX: self._indexing.run,
            Stage.EMBED: self._embedding.run,
        }[job.stage]
        try:
            if job.deaths >= _MAX_DEATHS:
                raise GaveUp
            with span(f"stage {job.stage}", {"citewell.attempt": job.attempt}, of=(job.resource_id, job.version)):
                return await self._with_lease([job], work(job))
        except LeaseLost:
            log.info("job %s of %s was overtaken or deleted", job.stage, job.resource_id)
            await self._forget_deleted(job)
        except NotFound:  # the resource was deleted, which `_settle` detects, or its bytes are missing
            await self._settle(job, DamagedFile())
        except CitewellError as error:
            await self._settle(job, error)
        except Exception:  # one file must never stop the workers
            log.exception("stage %s of %s failed", job.stage, job.resource_id)
            await self._settle(job, Unexpected())
        return ()

    async def _forget_deleted(self, job: Job) -> None:
        try:
            await self._indexing.forget_deleted(job)
        except Exception:  # such points never appear in results, and the workers must continue
            log.exception("points of %s may be left in an index", job.resource_id)

    async def _with_lease(self, jobs: Sequence[Job], work: Awaitable[T]) -> T:
        """Run the stage of these jobs with a heartbeat; if their leases are lost, cancel it."""
        stage = asyncio.ensure_future(work)
        heartbeat = asyncio.create_task(self._heartbeat(jobs))
        try:
            await asyncio.wait({stage, heartbeat}, return_when=asyncio.FIRST_COMPLETED)
            if not stage.done():
                heartbeat.result()
            return await stage
        finally:
            for task in (stage, heartbeat):
                task.cancel()
            await asyncio.gather(stage, heartbeat, return_exceptions=True)

    async def _heartbeat(self, jobs: Sequence[Job]) -> None:
        while True:
            await asyncio.sleep(self._limits.lease_seconds / 3)
            with contextlib.suppress(
                DiskFull
            ):  # the stage will fail for the same reason, and each write checks the lease
                await self._jobs.renew(*jobs)

    async def _settle(self, job: Job, error: CitewellError) -> None:
        """Record how an attempt ended, retrying until it succeeds or the lease is lost."""
        if isinstance(error, DiskFull):
            log.error("stage %s of %s: %s", job.stage, job.resource_id, error.message)
        self._unwritten += 1
        try:
            while not await self._written_down(job, error):  # noqa: ASYNC110 - each iteration retries the write
                await asyncio.sleep(self._limits.poll_seconds)
        finally:
            self._unwritten -= 1

    async def _written_down(self, job: Job, error: CitewellError) -> bool:
        try:
            await self._write_down(job, error)
        except LeaseLost:
            return True
        except DiskFull as full:
            self._wait_for_space(full)
            return False
        except Exception:  # the database may be unavailable for a while, and the loop must survive that
            log.exception("the end of %s of %s could not be written; retrying", job.stage, job.resource_id)
            return False
        return True

    async def _write_down(self, job: Job, error: CitewellError) -> None:
        """Retry later if that can help, or else end in a terminal state with the reason."""
        retryable = error.retryable if isinstance(error, ExtractionError) else isinstance(error, _TRANSIENT)
        # A database or object store usually recovers within minutes, and the file is not the cause.
        is_outage = isinstance(error, Unavailable)
        if retryable and job.attempt < (self._limits.outage_attempts if is_outage else self._limits.max_attempts):
            await self._jobs.retry_later(job, _backoff(job.attempt, error), error.code)
            return
        fail = fail_extraction if job.stage is Stage.EXTRACT else fail_indexing
        await fail(self._jobs, job, error)


def _backoff(attempt: int, error: CitewellError) -> float:
    """Seconds until the next attempt: as the provider requested, or else exponential with jitter."""
    if isinstance(error, ProviderRateLimited) and error.retry_after is not None:
        return error.retry_after
    base = 0.2 if isinstance(error, ExtractionError) else 2.0
    return min(base * 2**attempt, _MAX_BACKOFF_SECONDS) * (0.5 + random.random())  # noqa: S311 - jitter, not a secret
