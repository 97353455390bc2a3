"""Files that are sent through the stages again: because other options are asked for, or because they failed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.storage.database import Database
from citewell.storage.tables import resources
from citewell.types import AskedOptions, ErrorStage, Stage, Status, UploadOptions, UploadOutcome

_BEFORE_INDEXING = frozenset({Status.UPLOADED, Status.EXTRACTING})
_READ_ONLY = ("id", "status", "options", "coverage", "error_stage", "extracted_at", "record_id")
_KNOWN = [resources.c[name] for name in _READ_ONLY]


class ReprocessingRepository:
    """Decides and records, in one transaction, which stage a file starts over with. Workers do the rest."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(
        self, owner_id: str, resource_id: str, asked: AskedOptions, *, retry: bool = True
    ) -> UploadOutcome | None:
        """Do what these options ask for beyond what was done for a file, and (with `retry`) try again what failed.

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
        await _start_over(connection, row["id"], Status.UPLOADED, {"deaths": 0, "error_stage": None}, wanted)
    elif stage is Stage.INDEX:
        kept = ErrorStage.DESCRIPTION if row["error_stage"] == ErrorStage.DESCRIPTION else None
        await _start_over(connection, row["id"], Status.EXTRACTED, {"error_stage": kept}, wanted)
    elif wanted != known:  # it will be indexed by them when its turn comes
        options = asdict(replace(wanted, password=known.password))
        await connection.execute(sa.update(resources).where(resources.c.id == row["id"]).values(options=options))
    return outcome


def _due_work(
    row: Mapping[Any, Any], known: UploadOptions, wanted: UploadOptions, *, retry: bool
) -> tuple[UploadOutcome, Stage | None]:
    """What to do for a file, and the stage to begin with."""
    status = Status(row["status"])
    if row["record_id"] is not None or status is Status.STORED:  # a text, or a file that nothing reads
        return UploadOutcome.UNCHANGED, None
    if _reads_otherwise(known, wanted) or _unlocks(row, status, known, wanted):
        return UploadOutcome.REREAD, Stage.EXTRACT
    if status is Status.FAILED and retry:
        return UploadOutcome.RETRIED, Stage.EXTRACT
    if status in _BEFORE_INDEXING or row["extracted_at"] is None or status is Status.FAILED:
        return UploadOutcome.UNCHANGED, None
    if known.chunking != wanted.chunking:
        return UploadOutcome.REINDEXED, Stage.INDEX
    if status is Status.PARTIAL and retry:
        return UploadOutcome.RETRIED, Stage.INDEX
    return UploadOutcome.UNCHANGED, None


def _reads_otherwise(known: UploadOptions, wanted: UploadOptions) -> bool:
    return replace(known, password=None, chunking=None) != replace(wanted, password=None, chunking=None)


def _unlocks(row: Mapping[Any, Any], status: Status, known: UploadOptions, wanted: UploadOptions) -> bool:
    """Whether a password may open what stayed closed."""
    if wanted.password is None or wanted.password == known.password:
        return False
    return status is Status.FAILED or status in _BEFORE_INDEXING or "encrypted" in json.dumps(row["coverage"])


async def _start_over(
    connection: AsyncConnection, resource_id: str, status: Status, values: Mapping[str, Any], options: UploadOptions
) -> None:
    """Make a file wait for a stage; who works on it now has lost the lease."""
    await connection.execute(
        sa.update(resources)
        .where(resources.c.id == resource_id)
        .values(
            status=status,
            options=asdict(options),
            due=time.time(),
            attempt=0,
            not_before=0,
            lease_worker=None,
            lease_until=None,
            fence=resources.c.fence + 1,
            error_message=None,
            error_code=None,
            **values,
        )
    )
