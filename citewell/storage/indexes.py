"""The registry of indexes: their states, and which one serves searches."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import indexes


class IndexState(StrEnum):
    """BUILDING takes writes but serves no searches; READY can be switched to; ACTIVE serves searches; RETIRED can be rolled back to."""

    BUILDING = "building"
    READY = "ready"
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """An index as a row: its model, its store, and how far it is built."""

    id: str
    fingerprint: str
    store: str
    state: IndexState
    role: str
    settings: dict[str, Any]
    progress: int
    total: int
    created_at: float
    activated_at: float | None


class IndexRepository:
    """The registry of indexes; there is one ACTIVE at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_active(self, fingerprint: str, store: str, settings: dict[str, Any]) -> IndexRecord:
        """The index of this model in this store; the first one ever becomes ACTIVE."""
        async with self._database.write() as connection:
            match = sa.and_(indexes.c.fingerprint == fingerprint, indexes.c.store == store)
            row = (await connection.execute(sa.select(indexes).where(match))).mappings().first()
            if row is None:
                active = await connection.scalar(
                    sa.select(sa.func.count()).select_from(indexes).where(indexes.c.state == IndexState.ACTIVE)
                )
                state = IndexState.BUILDING if active else IndexState.ACTIVE
                values: dict[str, Any] = {**_new(fingerprint, store, state), "settings": settings}
                if (await connection.execute(insert_new(connection, indexes).values(**values))).rowcount:
                    return IndexRecord(**values)
                # On Postgres, another process has just created it.
                row = (await connection.execute(sa.select(indexes).where(match))).mappings().one()
        return _record(row)

    async def create(self, fingerprint: str, store: str, settings: dict[str, Any]) -> IndexRecord:
        """A new index to build beside the active one, or the existing one with that fingerprint."""
        values: dict[str, Any] = {**_new(fingerprint, store, IndexState.BUILDING), "settings": settings}
        match = sa.and_(indexes.c.fingerprint == fingerprint, indexes.c.store == store)
        async with self._database.write() as connection:
            await connection.execute(insert_new(connection, indexes).values(**values))
            return _record((await connection.execute(sa.select(indexes).where(match))).mappings().one())

    async def all(self) -> list[IndexRecord]:
        """All indexes, oldest first."""
        async with self._database.read() as connection:
            rows = (await connection.execute(sa.select(indexes).order_by(indexes.c.created_at))).mappings().all()
        return [_record(row) for row in rows]

    async def get(self, index_id: str) -> IndexRecord:
        """One index; `NotFound` when there is none."""
        for record in await self.all():
            if record.id == index_id:
                return record
        raise NotFound("There is no such index.")

    async def active(self) -> IndexRecord | None:
        """The index that serves searches, if one is active yet."""
        return next((r for r in await self.all() if r.state is IndexState.ACTIVE), None)

    async def set_progress(self, index_id: str, progress: int, total: int, state: IndexState | None = None) -> None:
        """Record how far a build is."""
        values: dict[str, Any] = {"progress": progress, "total": total}
        if state is not None:
            values["state"] = state
        async with self._database.write() as connection:
            await connection.execute(sa.update(indexes).where(indexes.c.id == index_id).values(**values))

    async def activate(self, index_id: str) -> None:
        """Make this index serve searches; the previous one is RETIRED and can be rolled back to. `NotFound` when it does not exist."""
        async with self._database.write() as connection:
            await connection.execute(
                sa.update(indexes).where(indexes.c.state == IndexState.ACTIVE).values(state=IndexState.RETIRED)
            )
            done = await connection.execute(
                sa.update(indexes)
                .where(indexes.c.id == index_id)
                .values(state=IndexState.ACTIVE, activated_at=time.time())
            )
            if not done.rowcount:
                raise NotFound("There is no such index.")

    async def delete(self, index_id: str) -> None:
        """Forget an index."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(indexes).where(indexes.c.id == index_id))


def _new(fingerprint: str, store: str, state: IndexState) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "fingerprint": fingerprint,
        "store": store,
        "state": state,
        "role": "search",
        "settings": {},
        "progress": 0,
        "total": 0,
        "created_at": time.time(),
        "activated_at": time.time() if state is IndexState.ACTIVE else None,
    }


def _record(row: Any) -> IndexRecord:
    values: dict[str, Any] = {**row, "state": IndexState(row["state"])}
    return IndexRecord(**values)
