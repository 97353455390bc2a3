"""Durable jobs on resource rows: a lease names the worker, and a fence rejects late writes after a lost lease."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import LeaseLost
from citewell.storage.channels.outbox import announce_ended
from citewell.storage.clock import LeaseClock
from citewell.storage.database import Database
from citewell.storage.files.events import record_event, record_events
from citewell.storage.tables import owners, resources
from citewell.types import TERMINAL, ErrorStage, Job, JsonObject, Searchable, Stage, Status, UploadOptions

T = TypeVar("T")
_STATES = {
    Stage.EXTRACT: (Status.UPLOADED, Status.EXTRACTING),
    Stage.INDEX: (Status.EXTRACTED, Status.INDEXING),
    Stage.EMBED: (Status.EMBEDDING,),  # same status while leased: it stays searchable by keyword
}
_TURNS = {Stage.EXTRACT: owners.c.extract_turn, Stage.INDEX: owners.c.index_turn, Stage.EMBED: owners.c.embed_turn}
# Without it, two workers on Postgres that choose at the same time would choose the same owner.
_LOCK = sa.text("SELECT pg_advisory_xact_lock(:key)")
_LOCK_KEYS = {Stage.EXTRACT: 0x63697465_01, Stage.INDEX: 0x63697465_02, Stage.EMBED: 0x63697465_03}
_RUNNING = {Stage.EXTRACT: Status.EXTRACTING, Stage.INDEX: Status.INDEXING, Stage.EMBED: Status.EMBEDDING}


_RELEASED: dict[str, Any] = {"attempt": 0, "deaths": 0, "lease_worker": None, "lease_until": None, "not_before": 0}
MAX_SHORT_BYTES = 16 * 1024  # some five pages
SHORT_TYPES = ("text/plain", "text/markdown", "text/x-source-code", "text/vtt")
MAX_SHORT_BYTES_TOGETHER = 128 * 1024  # one or two seconds of the built-in model
# Maximum wait, in seconds, that a stage keeps across a restart.
_MAX_WAIT = 900.0


class JobRepository:
    """Leases stages of resources to workers, fairly among owners."""

    def __init__(self, database: Database, lease_seconds: float = 60.0) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._clock = LeaseClock(database)
        self._choosing = {stage: asyncio.Lock() for stage in Stage}

    async def claim(self, stage: Stage, worker: str, *, newcomers: bool = False) -> Job | None:
        """Leases the next resource that waits for `stage`.

        The next owner is the one with the fewest leases of this stage; among equals, the one that has waited longest
        since its last. Of that owner's resources, the one due first is leased. With `newcomers`, only owners without a
        lease of this stage are considered.
        """
        async with self._choosing[stage]:
            if not self._database.is_sqlite:
                return await self._database.change(partial(self._choose, stage, worker, newcomers))
            # On SQLite, only this process chooses, and readers block no one.
            now, resource_id = await self._database.look(partial(self._next, stage, newcomers))
            if resource_id is None:
                return None
            return await self._database.change(partial(self._lease, stage, worker, now, resource_id))

    def _choose(self, stage: Stage, worker: str, newcomers: bool, connection: sa.Connection) -> Job | None:
        connection.execute(_LOCK, {"key": _LOCK_KEYS[stage]})
        now, resource_id = self._next(stage, newcomers, connection)
        return None if resource_id is None else self._lease(stage, worker, now, resource_id, connection)

    def _next(self, stage: Stage, newcomers: bool, connection: sa.Connection) -> tuple[float, str | None]:
        """Returns the time, and the next resource to lease."""
        now = self._clock.read(connection)
        first_due = _FIRST_DUE if self._database.is_sqlite else _FIRST_DUE_UNLOCKED
        for owner_id, running in connection.execute(_OWNERS_IN_TURN[stage], {"now": now}).all():
            if newcomers and running:
                break
            found: list[tuple[float, str]] = []
            for status in _STATES[stage]:
                values = {"status": status, "owner": owner_id, "now": now}
                found += [(due, resource_id) for due, resource_id in connection.execute(first_due, values)]
            if found:
                return now, min(found)[1]
        return now, None

    def _lease(self, stage: Stage, worker: str, now: float, resource_id: str, connection: sa.Connection) -> Job | None:
        """Leases the chosen resource; None if it was deleted or its state changed in the meantime."""
        until = now + self._lease_seconds
        values = {"of": resource_id, "now": now, "lease_worker": worker, "lease_until": until}
        row = connection.execute(_LEASE[stage], values).first()
        if row is None:
            return None
        owner_id = row.owner_id
        connection.execute(_TURN, {"of": owner_id, _TURNS[stage].name: now})
        if stage is not Stage.EMBED:  # embedding takes many turns, which would flood the timeline
            record_event(connection, resource_id, row.version, _RUNNING[stage], {"attempt": row.attempt})
        return _job(row, stage, worker)

    async def claim_short(self, first: Job, most: int) -> list[Job]:
        """Leases up to `most` further short texts of the owner of `first`, which is one, in the order of their turns."""
        return await self._database.change(partial(self._lease_short, first, most))

    def _lease_short(self, first: Job, most: int, connection: sa.Connection) -> list[Job]:
        now = self._clock.read(connection)
        due = _SHORT_DUE if self._database.is_sqlite else _SHORT_DUE.with_for_update(skip_locked=True)
        found = connection.execute(due, {"owner": first.owner_id, "now": now, "most": most}).all()
        sizes = itertools.accumulate(row.file_size_bytes for row in found)
        ids = [row.id for row, size in zip(found, sizes, strict=True) if size <= MAX_SHORT_BYTES_TOGETHER]
        if not ids:
            return []
        leased = {"ids": ids, "now": now, "lease_worker": first.worker, "lease_until": now + self._lease_seconds}
        rows = connection.execute(_LEASE_SHORT, leased).all()
        record_events(connection, [(row.id, row.version, Status.EXTRACTING, {"attempt": row.attempt}) for row in rows])
        return [_job(row, Stage.EXTRACT, first.worker) for row in rows]

    async def renew(self, *jobs: Job) -> None:
        """Extends the leases that still hold. Raises `LeaseLost` if none does."""

        def extend(connection: sa.Connection, held: set[str]) -> None:
            until = self._clock.read(connection) + self._lease_seconds
            if not held:
                raise LeaseLost
            connection.execute(_NOTE, [{"of": one, "lease_until": until} for one in sorted(held)])

        await self.change_all(jobs, extend)

    async def change(self, job: Job, work: Callable[[sa.Connection], T]) -> T:
        """Runs `work` in a write transaction during which the lease is guaranteed to hold, and returns its result.

        Raises `LeaseLost` if the lease is already lost.
        """

        def fenced(connection: sa.Connection) -> T:
            self._require_lease(connection, job)
            return work(connection)

        return await self._database.change(fenced)

    async def change_all(self, jobs: Sequence[Job], work: Callable[[sa.Connection, set[str]], T]) -> T:
        """Like `change`, for several jobs: `work` gets the ids of the resources whose leases hold, which may be none."""
        held = _HELD_OF if self._database.is_sqlite else _HELD_OF.with_for_update()
        ids = [job.resource_id for job in jobs]

        def fenced(connection: sa.Connection) -> T:
            fences = {row.id: row.fence for row in connection.execute(held, {"ids": ids})}
            return work(connection, {job.resource_id for job in jobs if fences.get(job.resource_id) == job.fence})

        return await self._database.change(fenced)

    @asynccontextmanager
    async def fenced(self, job: Job) -> AsyncGenerator[AsyncConnection]:
        """Like `change`, for transactions that await something else."""
        async with self._database.write() as connection:
            await connection.run_sync(self._require_lease, job)
            yield connection

    def _require_lease(self, connection: sa.Connection, job: Job) -> None:
        held = _HELD if self._database.is_sqlite else _HELD_LOCKED
        if connection.scalar(held, {"of": job.resource_id}) != job.fence:
            raise LeaseLost

    def finish(
        self, connection: sa.Connection, job: Job, status: Status, details: JsonObject | None = None, **values: Any
    ) -> None:
        """Moves the resource to `status` and releases the lease, inside a `change`."""
        self.note(connection, job, **_RELEASED | values | {"status": status})
        record_event(connection, job.resource_id, job.version, status, details)
        if status in TERMINAL:
            announce_ended(connection, [job.resource_id])

    def note(self, connection: sa.Connection, job: Job, **values: Any) -> None:
        """Writes a stage's progress to the row, inside a `change`; keeps the lease."""
        connection.execute(_NOTE, {"of": job.resource_id, **values})

    def note_all(
        self,
        connection: sa.Connection,
        noted: Sequence[tuple[Job, Mapping[str, Any]]],
        events: Sequence[tuple[Job, Status, JsonObject]] = (),
    ) -> None:
        """Like `note`, for several jobs with values for the same columns, and with events for their timelines."""
        if noted:
            connection.execute(_NOTE, [{"of": job.resource_id, **values} for job, values in noted])
        record_events(connection, [(job.resource_id, job.version, status, details) for job, status, details in events])

    def finish_all(
        self, connection: sa.Connection, ended: Sequence[tuple[Job, Mapping[str, Any], JsonObject]], status: Status
    ) -> None:
        """Like `finish`, for several jobs, each with values for the same columns and the details of its event."""
        self.note_all(
            connection,
            [(job, {**_RELEASED, **values, "status": status}) for job, values, _ in ended],
            [(job, status, details) for job, _, details in ended],
        )
        if status in TERMINAL:
            announce_ended(connection, [job.resource_id for job, _, _ in ended])

    async def pass_turn(self, job: Job) -> None:
        """Releases the lease of an unfinished stage, which continues at the resource's next turn."""
        values = {"attempt": 0, "deaths": 0, "lease_worker": None, "lease_until": None, "due": time.time()}
        await self.change(job, lambda connection: self.note(connection, job, **values))

    async def others_wait(self, job: Job) -> bool:
        """Whether other resources are waiting for the job's stage."""
        table = resources.c
        async with self._database.read() as connection:
            now = await self._clock.now(connection)
            query = sa.select(table.id).where(
                table.status.in_(_STATES[job.stage]),
                table.id != job.resource_id,
                sa.or_(table.lease_until.is_(None), table.lease_until < now),
                table.not_before <= now,
            )
            return await connection.scalar(query.limit(1)) is not None

    async def resume_embedding(self, codes: Sequence[str], attempt: int) -> int:
        """Resumes embedding files that became PARTIAL through one of these errors once their pause is over.

        Returns the number of files.
        """
        table = resources.c
        async with self._database.read() as connection:
            now = await self._clock.now(connection)
            chosen = sa.and_(
                table.status == Status.PARTIAL,
                table.searchable == Searchable.WORDS,
                table.error_stage == ErrorStage.INDEXING,
                table.error_code.in_(codes),
                table.not_before <= now,
            )
            if await connection.scalar(sa.select(table.id).where(chosen).limit(1)) is None:
                return 0
        again = (
            sa.update(resources)
            .where(chosen)
            .values(status=Status.EMBEDDING, attempt=attempt, error_stage=None, error_code=None, error_message=None)
        )
        async with self._database.write() as connection:
            return (await connection.execute(again)).rowcount

    def options(self, connection: sa.Connection, job: Job) -> UploadOptions:
        """Returns the upload options of the job's resource, inside a `change`."""
        stored = connection.scalar(sa.select(resources.c.options).where(resources.c.id == job.resource_id))
        return UploadOptions(**stored or {})

    async def retry_later(self, job: Job, seconds: float, reason: str) -> None:
        """Releases the lease and delays the stage's next attempt."""
        back = _STATES[job.stage][0]

        def release(connection: sa.Connection) -> None:
            not_before = self._clock.read(connection) + seconds
            self.note(connection, job, status=back, lease_worker=None, lease_until=None, not_before=not_before)
            record_event(connection, job.resource_id, job.version, back, {"retry_in": seconds, "reason": reason})

        await self.change(job, release)

    async def release_all(self, worker: str | None = None, died: bool = True) -> int:
        """Releases every lease of a worker known to be gone (None: of all workers); returns their number.

        The attempt does not count against the file, because the process died, not the parser. `deaths` does count, so
        that a file that repeatedly crashes the process is eventually given up.
        """
        table = resources.c
        async with self._database.write() as connection:
            if worker is None:  # such waits were written while the clock was ahead
                latest = await self._clock.now(connection) + _MAX_WAIT
                await connection.execute(
                    sa.update(resources).where(table.not_before > latest).values(not_before=latest)
                )
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
        """Sends a fully extracted resource through stage 3 again. False if it has nothing to index.

        If only the description failed, the error stage is kept, so that only the description is repeated.
        """
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
                    due=time.time(),
                    attempt=0,
                    not_before=0,
                    lease_worker=None,
                    lease_until=None,
                    fence=resources.c.fence + 1,
                    error_message=None,
                    error_code=None,
                    error_stage=sa.case((resources.c.error_stage == ErrorStage.DESCRIPTION, ErrorStage.DESCRIPTION)),
                )
            )
            return bool(done.rowcount)

    async def restart(self, owner_id: str, resource_id: str, options: UploadOptions) -> bool:
        """Sends a FAILED resource through both stages again, with the options of its new upload.

        False for any other.
        """
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
                    due=time.time(),
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

    async def by_status(self) -> dict[Status, int]:
        """Returns the number of resources of all owners by status, including zeros."""
        query = sa.select(resources.c.status, sa.func.count().label("count")).group_by(resources.c.status)
        found = {Status(row["status"]): row["count"] for row in await self._database.rows(query)}
        return {status: found.get(status, 0) for status in Status}

    async def by_error(self) -> dict[str, int]:
        """Returns the number of FAILED and PARTIAL resources of all owners by error code."""
        ended = resources.c.status.in_((Status.FAILED, Status.PARTIAL))
        query = sa.select(resources.c.error_code, sa.func.count().label("count")).where(ended)
        rows = await self._database.rows(query.group_by(resources.c.error_code))
        return {row["error_code"] or "none": row["count"] for row in rows}

    async def queue_ages(self) -> dict[Stage, float]:
        """Returns for each stage how many seconds the resource that waits longest for it is due; 0 if none waits.

        Vectors are due when the file's words were indexed: `due` puts the first turn before later turns of other files.
        """
        since = sa.case((resources.c.due < resources.c.indexed_at, resources.c.indexed_at), else_=resources.c.due)
        states = {state: stage for stage, known in _STATES.items() for state in known}
        query = sa.select(resources.c.status, sa.func.min(since).label("since")).where(
            resources.c.status.in_(states), resources.c.lease_until.is_(None)
        )
        rows = await self._database.rows(query.group_by(resources.c.status))
        ages = dict.fromkeys(Stage, 0.0)
        for row in rows:
            stage = states[row["status"]]
            ages[stage] = max(ages[stage], time.time() - row["since"])
        return ages

    async def waiting(self) -> int:
        """Counts the resources that are neither in a terminal state nor leased."""
        active = [state for states in _STATES.values() for state in states]
        query = sa.select(sa.func.count()).select_from(resources).where(resources.c.status.in_(active))
        async with self._database.read() as connection:
            return await connection.scalar(query) or 0


def _job(row: sa.Row[*tuple[Any, ...]], stage: Stage, worker: str) -> Job:
    return Job(
        resource_id=row.id,
        owner_id=row.owner_id,
        version=row.version,
        stage=stage,
        attempt=row.attempt,
        fence=row.fence,
        worker=worker,
        deaths=row.deaths,
        is_short=stage is Stage.EXTRACT and bool(row.is_short),
    )


def _owners_in_turn(stage: Stage) -> sa.Select[str, int]:
    """Selects owners with possibly waiting resources, and their numbers of leases, in the order of their turns."""
    candidates = sa.union(*(sa.select(_owners_with(status)) for status in _STATES[stage])).subquery()
    running = (
        sa.select(resources.c.owner_id, sa.func.count().label("leases"))
        .where(resources.c.status == _RUNNING[stage], resources.c.lease_until > sa.bindparam("now"))
        .group_by(resources.c.owner_id)
        .subquery()
    )
    leases = sa.func.coalesce(running.c.leases, 0)
    return (
        sa.select(owners.c.id, leases)
        .join(candidates, candidates.c.owner_id == owners.c.id)
        .join(running, running.c.owner_id == owners.c.id, isouter=True)
        .order_by(leases, _TURNS[stage], owners.c.created_at, owners.c.id)
    )


def _owners_with(status: Status) -> sa.CTE:
    """Selects the owners of resources in a status, with one index lookup per owner, not per resource."""
    first = sa.select(sa.func.min(resources.c.owner_id).label("owner_id")).where(resources.c.status == status)
    walk = first.cte(f"owners_{status.value}", recursive=True)
    following = (
        sa.select(sa.func.min(resources.c.owner_id))
        .where(resources.c.status == status, resources.c.owner_id > walk.c.owner_id)
        .scalar_subquery()
    )
    return walk.union_all(sa.select(following).where(walk.c.owner_id.is_not(None)))


# Built once, because every lease attempt runs them.
_OWNERS_IN_TURN = {stage: _owners_in_turn(stage) for stage in Stage}
_FIRST_DUE = (
    sa.select(resources.c.due, resources.c.id)
    .where(
        resources.c.status == sa.bindparam("status"),
        resources.c.owner_id == sa.bindparam("owner"),
        sa.or_(resources.c.lease_until.is_(None), resources.c.lease_until < sa.bindparam("now")),
        resources.c.not_before <= sa.bindparam("now"),
    )
    .order_by(resources.c.due, resources.c.id)
    .limit(1)
)
_FIRST_DUE_UNLOCKED = _FIRST_DUE.with_for_update(skip_locked=True)
# Nothing of such a file has been stored or tried before. Its type is the one found at upload, which the parser checks.
_IS_SHORT = sa.and_(
    resources.c.version == 1,
    resources.c.deaths == 0,
    sa.func.coalesce(resources.c.extracted_at, 0) == 0,  # SQLite 3.40 takes no column for NULL in RETURNING
    resources.c.file_size_bytes <= MAX_SHORT_BYTES,
    resources.c.mime_type.in_(SHORT_TYPES),
)
_LEASED = (
    resources.c.id,
    resources.c.owner_id,
    resources.c.version,
    resources.c.attempt,
    resources.c.fence,
    resources.c.deaths,
    sa.and_(_IS_SHORT, resources.c.attempt == 1).label("is_short"),
)
_LEASE = {
    stage: sa.update(resources)
    .where(
        resources.c.id == sa.bindparam("of"),
        resources.c.status.in_(_STATES[stage]),
        sa.or_(resources.c.lease_until.is_(None), resources.c.lease_until < sa.bindparam("now")),
    )
    .values(status=_RUNNING[stage], attempt=resources.c.attempt + 1, fence=resources.c.fence + 1)
    .returning(*_LEASED)
    for stage in Stage
}
_SHORT_DUE = (
    sa.select(resources.c.id, resources.c.file_size_bytes)
    .where(
        resources.c.status == Status.UPLOADED,
        resources.c.owner_id == sa.bindparam("owner"),
        sa.or_(resources.c.lease_until.is_(None), resources.c.lease_until < sa.bindparam("now")),
        resources.c.not_before <= sa.bindparam("now"),
        resources.c.attempt == 0,
        _IS_SHORT,
    )
    .order_by(resources.c.due, resources.c.id)
    .limit(sa.bindparam("most"))
)
_LEASE_SHORT = (
    sa.update(resources)
    .where(
        resources.c.id.in_(sa.bindparam("ids", expanding=True)),
        resources.c.status == Status.UPLOADED,
        sa.or_(resources.c.lease_until.is_(None), resources.c.lease_until < sa.bindparam("now")),
    )
    .values(status=Status.EXTRACTING, attempt=resources.c.attempt + 1, fence=resources.c.fence + 1)
    .returning(*_LEASED)
)
_TURN = sa.update(owners).where(owners.c.id == sa.bindparam("of"))
_NOTE = sa.update(resources).where(resources.c.id == sa.bindparam("of"))
_HELD = sa.select(resources.c.fence).where(resources.c.id == sa.bindparam("of"))
_HELD_OF = (
    sa.select(resources.c.id, resources.c.fence)
    .where(resources.c.id.in_(sa.bindparam("ids", expanding=True)))
    .order_by(resources.c.id)
)
_HELD_LOCKED = _HELD.with_for_update()
