"""The durable job on the resource row: a lease says who works on it, a fence makes late writes of a lost lease impossible."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import LeaseLost
from citewell.storage.database import Database
from citewell.storage.events import record_event
from citewell.storage.tables import resources
from citewell.types import Job, JsonObject, Stage, Status, UploadOptions

_STATES = {
    Stage.EXTRACT: (Status.UPLOADED, Status.EXTRACTING),
    Stage.INDEX: (Status.EXTRACTED, Status.INDEXING),
}
_RUNNING = {Stage.EXTRACT: Status.EXTRACTING, Stage.INDEX: Status.INDEXING}


class JobRepository:
    """Leases stages of resources to workers, fairly between owners."""

    def __init__(self, database: Database, lease_seconds: float = 60.0) -> None:
        self._database = database
        self._lease_seconds = lease_seconds

    async def claim(self, stage: Stage, worker: str) -> Job | None:
        """Lease the next resource that waits for `stage`: of the owner with the fewest leases, the oldest."""
        now = time.time()
        candidate = _next_waiting(stage, now)
        async with self._database.read() as connection:
            if await connection.scalar(candidate) is None:
                return None
        async with self._database.write() as connection:
            chosen = (
                candidate if self._database.is_sqlite else candidate.with_for_update(skip_locked=True, of=resources)
            )
            resource_id = await connection.scalar(chosen)
            if resource_id is None:
                return None
            update = (
                sa.update(resources)
                .where(resources.c.id == resource_id)
                .values(
                    status=_RUNNING[stage],
                    attempt=resources.c.attempt + 1,
                    fence=resources.c.fence + 1,
                    lease_worker=worker,
                    lease_until=now + self._lease_seconds,
                )
                .returning(
                    resources.c.owner_id,
                    resources.c.version,
                    resources.c.attempt,
                    resources.c.fence,
                    resources.c.deaths,
                )
            )
            owner_id, version, attempt, fence, deaths = (await connection.execute(update)).one()
            await record_event(connection, resource_id, version, _RUNNING[stage], {"attempt": attempt})
        return Job(
            resource_id=resource_id,
            owner_id=owner_id,
            version=version,
            stage=stage,
            attempt=attempt,
            fence=fence,
            worker=worker,
            deaths=deaths,
        )

    async def renew(self, job: Job) -> None:
        """Extend the lease; `LeaseLost` when another worker holds it, or the resource is gone."""
        async with self.fenced(job) as connection:
            await connection.execute(
                sa.update(resources)
                .where(resources.c.id == job.resource_id)
                .values(lease_until=time.time() + self._lease_seconds)
            )

    @asynccontextmanager
    async def fenced(self, job: Job) -> AsyncGenerator[AsyncConnection]:
        """A write transaction in which the lease is known to hold until it commits; raises `LeaseLost` otherwise."""
        held = sa.select(resources.c.fence).where(resources.c.id == job.resource_id)
        async with self._database.write() as connection:
            if not self._database.is_sqlite:
                held = held.with_for_update()
            if await connection.scalar(held) != job.fence:
                raise LeaseLost
            yield connection

    async def finish(
        self, connection: AsyncConnection, job: Job, status: Status, details: JsonObject | None = None, **values: Any
    ) -> None:
        """Move the resource to `status` and release the lease, inside a `fenced` transaction."""
        await connection.execute(
            sa.update(resources)
            .where(resources.c.id == job.resource_id)
            .values(status=status, attempt=0, deaths=0, lease_worker=None, lease_until=None, not_before=0, **values)
        )
        await record_event(connection, job.resource_id, job.version, status, details)

    async def retry_later(self, job: Job, seconds: float, reason: str) -> None:
        """Release the lease and let the stage wait before its next attempt."""
        back = _STATES[job.stage][0]
        async with self.fenced(job) as connection:
            await connection.execute(
                sa.update(resources)
                .where(resources.c.id == job.resource_id)
                .values(status=back, lease_worker=None, lease_until=None, not_before=time.time() + seconds)
            )
            await record_event(connection, job.resource_id, job.version, back, {"retry_in": seconds, "reason": reason})

    async def release_all(self, worker: str | None = None, died: bool = True) -> int:
        """Give back every lease of a worker that is known to be gone (None: of all workers). Returns how many.

        The attempt does not count against the file, for the process died, not the parser; `deaths` does count, so that
        a file that takes the process down with it, again and again, is given up in the end.
        """
        table = resources.c
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.update(resources)
                .where(table.lease_until.is_not(None) if worker is None else table.lease_worker == worker)
                .values(
                    lease_worker=None,
                    lease_until=None,
                    fence=table.fence + 1,
                    attempt=sa.case((table.attempt > 0, table.attempt - 1), else_=0),
                    deaths=table.deaths + int(died),
                )
            )
            return done.rowcount

    async def requeue(self, owner_id: str, resource_id: str) -> bool:
        """Send a fully extracted resource through stage 3 again. False when it has nothing to index."""
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.update(resources)
                .where(
                    resources.c.id == resource_id,
                    resources.c.owner_id == owner_id,
                    resources.c.extracted_at.is_not(None),
                    resources.c.status.not_in([Status.STORED, Status.FAILED]),
                )
                .values(
                    status=Status.EXTRACTED,
                    attempt=0,
                    not_before=0,
                    lease_worker=None,
                    lease_until=None,
                    fence=resources.c.fence + 1,
                    error_message=None,
                    error_code=None,
                    error_stage=None,
                )
            )
            return bool(done.rowcount)

    async def restart(self, owner_id: str, resource_id: str, options: UploadOptions) -> bool:
        """Send a resource that FAILED through both stages again, with the options of its new upload. False for any other."""
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.update(resources)
                .where(
                    resources.c.id == resource_id,
                    resources.c.owner_id == owner_id,
                    resources.c.status == Status.FAILED,
                )
                .values(
                    status=Status.UPLOADED,
                    attempt=0,
                    deaths=0,
                    not_before=0,
                    fence=resources.c.fence + 1,
                    error_message=None,
                    error_code=None,
                    error_stage=None,
                    options=asdict(options),
                )
            )
            return bool(done.rowcount)

    async def waiting(self) -> int:
        """How many resources are in neither a terminal state nor a lease that still runs."""
        active = [state for states in _STATES.values() for state in states]
        query = sa.select(sa.func.count()).select_from(resources).where(resources.c.status.in_(active))
        async with self._database.read() as connection:
            return await connection.scalar(query) or 0


def _next_waiting(stage: Stage, now: float) -> sa.Select[str]:
    busy = (
        sa.select(resources.c.owner_id, sa.func.count().label("running"))
        .where(resources.c.lease_until > now)
        .group_by(resources.c.owner_id)
        .subquery()
    )
    return (
        sa.select(resources.c.id)
        .join(busy, busy.c.owner_id == resources.c.owner_id, isouter=True)
        .where(
            resources.c.status.in_(_STATES[stage]),
            sa.or_(resources.c.lease_until.is_(None), resources.c.lease_until < now),
            resources.c.not_before <= now,
        )
        .order_by(sa.func.coalesce(busy.c.running, 0), resources.c.created_at, resources.c.id)
        .limit(1)
    )
