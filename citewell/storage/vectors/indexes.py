"""The registry of indexes: their states, which one serves searches, and how far the building of the others is."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.clock import LeaseClock
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import indexes


class IndexState(StrEnum):
    """What an index may be used for.

    OFFERED:  known, but empty: building it costs money, and waits for somebody to agree
    BUILDING: takes writes, and serves no searches but those of a gradual build
    READY:    can be switched to
    FILLING:  serves searches from what it has so far
    ACTIVE:   serves searches
    RETIRED:  served them, and can be rolled back to
    """

    OFFERED = "offered"
    BUILDING = "building"
    READY = "ready"
    FILLING = "filling"
    ACTIVE = "active"
    RETIRED = "retired"


class BuildMode(StrEnum):
    """How one index takes the place of another.

    FRESH:   the other is dropped first; questions are answered from what there is so far
    DUAL:    built beside the other, which answers until it is switched
    GRADUAL: built beside the other file by file; a file is answered from the new index as soon as it is there
    """

    FRESH = "fresh"
    DUAL = "dual"
    GRADUAL = "gradual"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How a build is to be done.

    switch:        let the index answer as soon as it is complete
    pause_seconds: between batches, so that other work has room
    max_dollars:   the build pauses before it has cost more than this; None is no limit but the month's
    """

    mode: BuildMode = BuildMode.DUAL
    switch: bool = False
    pause_seconds: float = 0.0
    max_dollars: float | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BuildOptions:
        """Options as they are stored; what is missing is as by default."""
        values: dict[str, Any] = {**data, "mode": BuildMode(data.get("mode", BuildMode.DUAL))}
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """An index as a row: its model, its store, and how far it is built.

    place:         which of the stores of that kind, without secrets; empty for the data folder's
    settings:      what opens it again, without secrets
    configured_at: when the settings began to name it
    is_behind:     whether it missed writes because it could not be opened
    moved_to:      every file up to this id is in it
    problem:       what a build waits for; spent: US dollars that a build has cost, about
    """

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
    place: str = ""
    configured_at: float | None = None
    is_behind: bool = False
    build: BuildOptions = BuildOptions()
    moved_to: str = ""
    paused: bool = False
    problem: str = ""
    spent: float = 0.0

    @property
    def is_being_built(self) -> bool:
        """Whether it does not hold everything yet, and is to."""
        return self.state in (IndexState.BUILDING, IndexState.FILLING)


_ANSWERING = (IndexState.ACTIVE, IndexState.FILLING)


class IndexRepository:
    """The registry of indexes; there is one that answers at a time."""

    def __init__(self, database: Database, lease_seconds: float = 60.0) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._clock = LeaseClock(database)

    async def ensure_active(
        self, fingerprint: str, store: str, settings: dict[str, Any], place: str = ""
    ) -> IndexRecord:
        """The index of this model in this store; the first one ever becomes ACTIVE."""
        async with self._database.write() as connection:
            match = _is(fingerprint, store, place)
            row = (await connection.execute(sa.select(indexes).where(match))).mappings().first()
            if row is None:
                active = await connection.scalar(
                    sa.select(sa.func.count()).select_from(indexes).where(indexes.c.state.in_(_ANSWERING))
                )
                state = IndexState.BUILDING if active else IndexState.ACTIVE
                values = _new(fingerprint, store, place, state, settings, BuildOptions())
                await connection.execute(insert_new(connection, indexes).values(**values))
                # On Postgres, another process may have just created it.
                row = (await connection.execute(sa.select(indexes).where(match))).mappings().one()
        return _record(row)

    async def create(
        self,
        fingerprint: str,
        store: str,
        settings: dict[str, Any],
        place: str = "",
        state: IndexState = IndexState.BUILDING,
        build: BuildOptions | None = None,
    ) -> IndexRecord:
        """A new index beside the active one, or the existing one of that model in that place."""
        values = _new(fingerprint, store, place, state, settings, build or BuildOptions())
        async with self._database.write() as connection:
            await connection.execute(insert_new(connection, indexes).values(**values))
            match = _is(fingerprint, store, place)
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
        """The index that serves searches, if one does yet."""
        return next((r for r in await self.all() if r.state in _ANSWERING), None)

    async def set_progress(
        self,
        index_id: str,
        progress: int,
        total: int,
        state: IndexState | None = None,
        *,
        moved_to: str | None = None,
        spent: float | None = None,
    ) -> None:
        """Record how far a build is, in chunks; a state that ends it clears what it waited for."""
        given: dict[str, Any] = {"state": state, "moved_to": moved_to, "spent": spent}
        values: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        values |= {"progress": progress, "total": total}
        if state is not None:
            values["problem"] = ""
        await self._change(index_id, values)

    async def restart(self, index_id: str, build: BuildOptions, state: IndexState = IndexState.BUILDING) -> None:
        """Let a build begin, or begin again, from the first file."""
        empty = {"progress": 0, "total": 0, "moved_to": "", "paused": False, "problem": "", "is_behind": False}
        await self._change(index_id, {"state": state, "build": asdict(build), "spent": 0.0, **empty})

    async def set_build(self, index_id: str, build: BuildOptions) -> None:
        """Change how an index is being built."""
        await self._change(index_id, {"build": asdict(build)})

    async def set_paused(self, index_id: str, paused: bool, problem: str = "") -> None:
        """Let a build wait until somebody resumes it, or go on."""
        await self._change(index_id, {"paused": paused, "problem": problem})

    async def note_problem(self, index_id: str, problem: str) -> None:
        """What a build waits for while it is tried again; empty when it goes on."""
        await self._change(index_id, {"problem": problem})

    async def note_behind(self, index_id: str) -> None:
        """The index could not be opened, so it misses what is written from now on."""
        await self._change(index_id, {"is_behind": True})

    async def note_configured(self, index_id: str) -> None:
        """The settings name this index from now on."""
        await self._change(index_id, {"configured_at": time.time()})

    async def place_at(self, index_id: str, place: str, settings: dict[str, Any]) -> None:
        """Say where an index is that was registered before places were kept."""
        await self._change(index_id, {"place": place, "settings": settings})

    async def lease(self, index_id: str, worker: str) -> bool:
        """Whether this process may build the index now: one does at a time. To be renewed while it builds."""
        async with self._database.write() as connection:
            now = await self._clock.now(connection)
            free = sa.or_(
                indexes.c.lease_until.is_(None), indexes.c.lease_until < now, indexes.c.lease_worker == worker
            )
            done = await connection.execute(
                sa.update(indexes)
                .where(indexes.c.id == index_id, free)
                .values(lease_worker=worker, lease_until=now + self._lease_seconds)
            )
        return bool(done.rowcount)

    async def release(self, worker: str | None = None) -> None:
        """End the leases of a worker; of all, where one process has the database for itself and has just started."""
        ended = sa.update(indexes).values(lease_worker=None, lease_until=None)
        if worker is not None:
            ended = ended.where(indexes.c.lease_worker == worker)
        async with self._database.write() as connection:
            await connection.execute(ended)

    async def activate(self, index_id: str, state: IndexState = IndexState.ACTIVE) -> None:
        """Make this index serve searches; the previous one is RETIRED and can be rolled back to. `NotFound` when it does not exist."""
        async with self._database.write() as connection:
            await connection.execute(
                sa.update(indexes)
                .where(indexes.c.state.in_(_ANSWERING), indexes.c.id != index_id)
                .values(state=IndexState.RETIRED)
            )
            done = await connection.execute(
                sa.update(indexes).where(indexes.c.id == index_id).values(state=state, activated_at=time.time())
            )
            if not done.rowcount:
                raise NotFound("There is no such index.")

    async def delete(self, index_id: str) -> None:
        """Forget an index."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(indexes).where(indexes.c.id == index_id))

    async def _change(self, index_id: str, values: Mapping[str, Any]) -> None:
        async with self._database.write() as connection:
            await connection.execute(sa.update(indexes).where(indexes.c.id == index_id).values(**values))


def _is(fingerprint: str, store: str, place: str) -> sa.ColumnElement[bool]:
    return sa.and_(indexes.c.fingerprint == fingerprint, indexes.c.store == store, indexes.c.place == place)


def _new(
    fingerprint: str, store: str, place: str, state: IndexState, settings: dict[str, Any], build: BuildOptions
) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "fingerprint": fingerprint,
        "store": store,
        "place": place,
        "state": state,
        "role": "search",
        "settings": settings,
        "progress": 0,
        "total": 0,
        "created_at": time.time(),
        "activated_at": time.time() if state is IndexState.ACTIVE else None,
        "build": asdict(build),
    }


def _record(row: Mapping[Any, Any]) -> IndexRecord:
    values: dict[str, Any] = {key: value for key, value in row.items() if not key.startswith("lease_")}
    values |= {"state": IndexState(row["state"]), "build": BuildOptions.from_json(row["build"] or {})}
    return IndexRecord(**values)
