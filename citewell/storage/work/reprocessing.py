"""Reprocessing of files: with different options, or after a failure."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import NotFound
from citewell.storage.database import Database
from citewell.storage.tables import reindex_runs, resource_projects, resources
from citewell.types import (
    TERMINAL,
    AskedOptions,
    ErrorStage,
    Reindex,
    ReindexSelection,
    Stage,
    Status,
    UploadOptions,
    UploadOutcome,
)

_BEFORE_INDEXING = frozenset({Status.UPLOADED, Status.EXTRACTING})
_READ_ONLY = ("id", "status", "options", "coverage", "error_stage", "extracted_at", "record_id")
# Queue delay, in seconds, for background reprocessing.
_BACKGROUND_SECONDS = 3_600.0
_KNOWN = [resources.c[name] for name in _READ_ONLY]


class ReprocessingRepository:
    """Decides and records, in one transaction, the stage from which a file is reprocessed. Workers do the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(
        self, owner_id: str, resource_id: str, asked: AskedOptions, *, retry: bool = True
    ) -> UploadOutcome | None:
        """Queues the additional work that these options require for a file, and, with `retry`, retries what failed.

        Files inside it get the same options. None for a file that is not the owner's.
        """
        async with self._database.write() as connection:
            mine = sa.and_(resources.c.id == resource_id, resources.c.owner_id == owner_id)
            row = (await connection.execute(sa.select(*_KNOWN).where(mine).with_for_update())).mappings().first()
            if row is None:
                return None
            outcome = await _ask(connection, row, asked, retry=retry)
            if outcome in (UploadOutcome.REREAD, UploadOutcome.REINDEXED):
                await _ask_children(connection, resource_id, replace(asked, password=None))
        return outcome

    async def asks_more(self, owner_id: str, resource_id: str, asked: AskedOptions) -> bool:
        """Whether `ask` would change how a file is parsed or chunked; False for a file that is not the owner's."""
        mine = sa.and_(resources.c.id == resource_id, resources.c.owner_id == owner_id)
        for row in await self._database.rows(sa.select(*_KNOWN).where(mine)):
            known = UploadOptions(**row["options"])
            wanted = asked.over(known)
            outcome, _ = _due_work(row, known, wanted, retry=False)
            return outcome is not UploadOutcome.UNCHANGED or replace(wanted, password=known.password) != known
        return False

    async def begin(self, owner_id: str, selection: ReindexSelection) -> Reindex:
        """Queues all selected files for reprocessing in one transaction, so that a restart loses none of the work.

        The owner's uploads within the next hour take precedence. Files that are being parsed are skipped.
        """
        now = time.time()
        run = Reindex(id=str(uuid.uuid4()), selection=selection, total=0, waiting=0, failed=0, created_at=now)
        async with self._database.write() as connection:
            count = 0
            for status, chosen in _selected(owner_id, selection).items():
                values = _waiting_for(status) | {"due": now + _BACKGROUND_SECONDS, "reindex_id": run.id}
                count += (await connection.execute(sa.update(resources).where(chosen).values(**values))).rowcount
            row = {
                "id": run.id,
                "owner_id": owner_id,
                "selection": asdict(selection),
                "total": count,
                "created_at": now,
            }
            await connection.execute(sa.insert(reindex_runs).values(**row))
        return replace(run, total=count, waiting=count)

    async def run(self, owner_id: str, run_id: str) -> Reindex:
        """Returns a run with its progress. Raises `NotFound` if it is not the owner's."""
        table = reindex_runs
        rows = await self._database.rows(sa.select(table).where(table.c.id == run_id, table.c.owner_id == owner_id))
        if not rows:
            raise NotFound
        return await self._progress(rows[0])

    async def latest(self, owner_id: str, limit: int) -> list[Reindex]:
        """Returns the owner's runs, newest first."""
        table = reindex_runs
        query = sa.select(table).where(table.c.owner_id == owner_id).order_by(table.c.created_at.desc()).limit(limit)
        return [await self._progress(row) for row in await self._database.rows(query)]

    async def _progress(self, row: Mapping[Any, Any]) -> Reindex:
        status = resources.c.status
        query = (
            sa.select(status, sa.func.count().label("files"))
            .where(resources.c.reindex_id == row["id"])
            .group_by(status)
        )
        counts = {Status(one["status"]): int(one["files"]) for one in await self._database.rows(query)}
        return Reindex(
            id=row["id"],
            selection=ReindexSelection(**row["selection"]),
            total=row["total"],
            waiting=sum(count for state, count in counts.items() if state not in TERMINAL),
            failed=counts.get(Status.FAILED, 0) + counts.get(Status.PARTIAL, 0),
            created_at=row["created_at"],
        )


def _selected(owner_id: str, selection: ReindexSelection) -> dict[Status, sa.ColumnElement[bool]]:
    """Builds the conditions for the selected files, by the state in which they restart."""
    chosen = [resources.c.owner_id == owner_id, resources.c.status.not_in(_BEFORE_INDEXING)]
    if selection.project_id is not None:
        table = resource_projects.c
        inside = sa.select(table.resource_id).where(table.project_id == selection.project_id)
        chosen.append(resources.c.id.in_(inside))
    if selection.failed:
        chosen.append(resources.c.status.in_([Status.FAILED, Status.PARTIAL]))
    has_file = resources.c.record_id.is_(None)
    is_read = sa.and_(resources.c.extracted_at.is_not(None), resources.c.status.not_in([Status.STORED, Status.FAILED]))
    from_bytes = has_file if selection.read_again else sa.and_(has_file, resources.c.status == Status.FAILED)
    from_text = sa.and_(is_read, sa.not_(has_file)) if selection.read_again else is_read
    return {Status.EXTRACTED: sa.and_(*chosen, from_text), Status.UPLOADED: sa.and_(*chosen, from_bytes)}


def _waiting_for(status: Status) -> dict[str, Any]:
    """Returns the values that queue a row for the stage that starts in this state; any current lease is lost."""
    is_description = resources.c.error_stage == ErrorStage.DESCRIPTION
    return {
        "status": status,
        "attempt": 0,
        "not_before": 0,
        "lease_worker": None,
        "lease_until": None,
        "fence": resources.c.fence + 1,
        "error_message": None,
        "error_code": None,
        **(
            {"deaths": 0, "error_stage": None}
            if status is Status.UPLOADED
            else {"error_stage": sa.case((is_description, ErrorStage.DESCRIPTION))}
        ),
    }


async def _ask_children(connection: AsyncConnection, resource_id: str, asked: AskedOptions) -> None:
    parents = [resource_id]
    while parents:
        query = sa.select(*_KNOWN).where(resources.c.parent_id.in_(parents)).with_for_update()
        rows = (await connection.execute(query)).mappings().all()
        for row in rows:
            await _ask(connection, row, asked, retry=False)
        parents = [row["id"] for row in rows]


async def _ask(
    connection: AsyncConnection, row: Mapping[Any, Any], asked: AskedOptions, *, retry: bool
) -> UploadOutcome:
    known = UploadOptions(**row["options"])
    wanted = asked.over(known)
    outcome, stage = _due_work(row, known, wanted, retry=retry)
    if stage is Stage.EXTRACT:
        await _start_over(connection, row["id"], Status.UPLOADED, wanted)
    elif stage is Stage.INDEX:
        await _start_over(connection, row["id"], Status.EXTRACTED, wanted)
    elif wanted != known:  # the new options apply when its turn comes
        options = asdict(replace(wanted, password=known.password))
        await connection.execute(sa.update(resources).where(resources.c.id == row["id"]).values(options=options))
    return outcome


def _due_work(
    row: Mapping[Any, Any], known: UploadOptions, wanted: UploadOptions, *, retry: bool
) -> tuple[UploadOutcome, Stage | None]:
    """Returns the outcome for a file, and the stage to start from."""
    status = Status(row["status"])
    if row["record_id"] is not None or status is Status.STORED:  # a record, or a file of an unsupported type
        return UploadOutcome.UNCHANGED, None
    if _reads_otherwise(known, wanted) or _unlocks(row, status, known, wanted):
        return UploadOutcome.REREAD, Stage.EXTRACT
    if status is Status.FAILED and retry:
        return UploadOutcome.RETRIED, Stage.EXTRACT
    if status in _BEFORE_INDEXING or row["extracted_at"] is None or status is Status.FAILED:
        return UploadOutcome.UNCHANGED, None
    if (known.chunking, known.caption) != (wanted.chunking, wanted.caption):
        return UploadOutcome.REINDEXED, Stage.INDEX
    if status is Status.PARTIAL and retry:
        return UploadOutcome.RETRIED, Stage.INDEX
    return UploadOutcome.UNCHANGED, None


def _reads_otherwise(known: UploadOptions, wanted: UploadOptions) -> bool:
    return _as_read(known) != _as_read(wanted)


def _as_read(options: UploadOptions) -> UploadOptions:
    """Returns the options without those that only later stages use."""
    return replace(options, password=None, chunking=None, caption=None)


def _unlocks(row: Mapping[Any, Any], status: Status, known: UploadOptions, wanted: UploadOptions) -> bool:
    """Whether a new password may open a file that could not be opened."""
    if wanted.password is None or wanted.password == known.password:
        return False
    return status is Status.FAILED or status in _BEFORE_INDEXING or "encrypted" in json.dumps(row["coverage"])


async def _start_over(connection: AsyncConnection, resource_id: str, status: Status, options: UploadOptions) -> None:
    values = _waiting_for(status) | {"options": asdict(options), "due": time.time()}
    await connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(**values))
