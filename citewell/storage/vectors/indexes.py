"""The registry of indexes: their states, which one serves searches, and the build progress of the others."""

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

    OFFERED:  registered but empty; building it costs money and needs someone's approval
    BUILDING: receives writes; serves searches only during a gradual build
    READY:    complete; can be switched to
    FILLING:  serves searches from its contents so far
    ACTIVE:   serves searches
    RETIRED:  served searches before; can be rolled back to
    """

    OFFERED = "offered"
    BUILDING = "building"
    READY = "ready"
    FILLING = "filling"
    ACTIVE = "active"
    RETIRED = "retired"


class BuildMode(StrEnum):
    """How one index replaces another.

    FRESH:   the old index is dropped first; searches use the contents of the new one so far
    DUAL:    built alongside the old index, which serves searches until the switch
    GRADUAL: built alongside the old index file by file; searches use the new index for each file as soon as it is there
    """

    FRESH = "fresh"
    DUAL = "dual"
    GRADUAL = "gradual"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of an index build.

    switch:        switch searches to the index as soon as it is complete
    pause_seconds: pause between batches, to leave room for other work
    max_dollars:   the build pauses before its cost exceeds this; None: only the monthly limit applies
    """

    mode: BuildMode = BuildMode.DUAL
    switch: bool = False
    pause_seconds: float = 0.0
    max_dollars: float | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BuildOptions:
        """Parses stored options; missing ones get their defaults."""
        values: dict[str, Any] = {**data, "mode": BuildMode(data.get("mode", BuildMode.DUAL))}
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """An index row: model, store and build progress.

    place:         which store of that kind, without secrets; empty for the one in the data folder
    settings:      the settings needed to reopen it, without secrets
    configured_at: when it became the one in the settings
    is_behind:     whether it missed writes because it could not be opened
    moved_to:      it contains every file up to this id
    problem:       why a build is waiting; spent: approximate cost of a build in US dollars
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
        """Whether it is still incomplete and being filled."""
        return self.state in (IndexState.BUILDING, IndexState.FILLING)


_ANSWERING = (IndexState.ACTIVE, IndexState.FILLING)


class IndexRepository:
    """The registry of indexes, one of which serves searches at a time."""

    def __init__(self, database: Database, lease_seconds: float = 60.0) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._clock = LeaseClock(database)

    async def ensure_active(
        self, fingerprint: str, store: str, settings: dict[str, Any], place: str = ""
    ) -> IndexRecord:
        """Returns the index of this model in this store, creating it if missing; the first one ever becomes ACTIVE."""
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
                # On Postgres, another process may have created it just now.
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
        """Creates an index alongside the active one, or returns the existing one for that model and place."""
        values = _new(fingerprint, store, place, state, settings, build or BuildOptions())
        async with self._database.write() as connection:
            await connection.execute(insert_new(connection, indexes).values(**values))
            match = _is(fingerprint, store, place)
            return _record((await connection.execute(sa.select(indexes).where(match))).mappings().one())

    async def all(self) -> list[IndexRecord]:
        """Returns all indexes, oldest first."""
        async with self._database.read() as connection:
            rows = (await connection.execute(sa.select(indexes).order_by(indexes.c.created_at))).mappings().all()
        return [_record(row) for row in rows]

    async def get(self, index_id: str) -> IndexRecord:
        """Returns one index. Raises `NotFound`."""
        for record in await self.all():
            if record.id == index_id:
                return record
        raise NotFound("There is no such index.")

    async def active(self) -> IndexRecord | None:
        """Returns the index that serves searches, if any."""
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
        """Records build progress, in chunks; a state that ends the build clears its problem."""
        given: dict[str, Any] = {"state": state, "moved_to": moved_to, "spent": spent}
        values: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        values |= {"progress": progress, "total": total}
        if state is not None:
            values["problem"] = ""
        await self._change(index_id, values)

    async def restart(self, index_id: str, build: BuildOptions, state: IndexState = IndexState.BUILDING) -> None:
        """Starts or restarts a build from the first file."""
        empty = {"progress": 0, "total": 0, "moved_to": "", "paused": False, "problem": "", "is_behind": False}
        await self._change(index_id, {"state": state, "build": asdict(build), "spent": 0.0, **empty})

    async def set_build(self, index_id: str, build: BuildOptions) -> None:
        """Changes the build options of an index."""
        await self._change(index_id, {"build": asdict(build)})

    async def set_paused(self, index_id: str, paused: bool, problem: str = "") -> None:
        """Pauses or resumes a build."""
        await self._change(index_id, {"paused": paused, "problem": problem})

    async def note_problem(self, index_id: str, problem: str) -> None:
        """Records why a build is waiting to retry; empty once it continues."""
        await self._change(index_id, {"problem": problem})

    async def note_behind(self, index_id: str) -> None:
        """Records that the index could not be opened and misses writes from now on."""
        await self._change(index_id, {"is_behind": True})

    async def note_configured(self, index_id: str) -> None:
        """Records that the settings now name this index."""
        await self._change(index_id, {"configured_at": time.time()})

    async def place_at(self, index_id: str, place: str, settings: dict[str, Any]) -> None:
        """Sets the place of an index that was registered before places were recorded."""
        await self._change(index_id, {"place": place, "settings": settings})

    async def lease(self, index_id: str, worker: str) -> bool:
        """Takes or renews the build lease, which one process holds at a time; returns whether this one has it."""
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
        """Ends the build leases of a worker, or all of them when a process that owns the database starts."""
        ended = sa.update(indexes).values(lease_worker=None, lease_until=None)
        if worker is not None:
            ended = ended.where(indexes.c.lease_worker == worker)
        async with self._database.write() as connection:
            await connection.execute(ended)

    async def activate(self, index_id: str, state: IndexState = IndexState.ACTIVE) -> None:
        """Makes this index serve searches and the previous one RETIRED, for rollback. Raises `NotFound`."""
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
        """Removes an index from the registry."""
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
