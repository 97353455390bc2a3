"""User-supplied metadata, identifiers and threads of files. A change also queues the update of every index."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import CitewellError, Conflict, NotFound, named
from citewell.filters.language import metadata_key, validate_keys
from citewell.ports.points import keyword
from citewell.storage.database import Database
from citewell.storage.files.contained import with_contained
from citewell.storage.files.file_filters import owner_column, resource_conditions
from citewell.storage.files.key_counts import KeyCounts
from citewell.storage.files.projects import check_identifier_free
from citewell.storage.lookups import unindexed
from citewell.storage.tables import resource_projects, resources
from citewell.storage.work.payload_changes import file_facts, metadata_of, note_changes
from citewell.types import Expression, FileFacts, Metadata, MetadataKey, ResourceFilter, Scope, conditions_in
from citewell.types.metadata_values import is_resource_id
from citewell.types.names import composed_name, name_spellings

_MAX_COUNTED = 64  # owners whose metadata counts are cached
_MAX_PARAMETERS = 500
_MAX_TOGETHER = 256  # changes per transaction
_MAX_REVISIONS = 4_096  # owners whose file counts are cached
_FILES = sa.select(sa.func.count().label("files"), sa.func.max(resources.c.created_at).label("newest")).where(
    resources.c.owner_id == sa.bindparam("owner")
)

# Many files share the same metadata: records of one source, or none at all.
_SAID = (
    sa.select(resources.c.metadata, sa.func.count().label("files"))
    .where(resources.c.owner_id == sa.bindparam("owner"))
    .group_by(resources.c.metadata)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A change of a file. `metadata` maps the old metadata to the new; None leaves a field as it is, and an empty
    identifier or thread removes it."""

    metadata: Callable[[Metadata], Metadata] | None = None
    identifier: str | None = None
    thread: str | None = None

    @property
    def is_any(self) -> bool:
        """Whether it changes anything."""
        return self.metadata is not None or self.identifier is not None or self.thread is not None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A requested change and the future of its stamp, which is None if there was nothing to change."""

    owner_id: str
    resource_id: str
    change: FileChange
    done: asyncio.Future[str | None]

    def fail(self, error: Exception) -> None:
        """Delivers the error, unless the caller no longer waits."""
        if not self.done.done():
            self.done.set_exception(error)


class _Delta(NamedTuple):
    """The metadata of a file before and after a change."""

    owner_id: str
    before: Metadata
    after: Metadata


@dataclass(frozen=True, slots=True)
class _Counted:
    """Cached counts of an owner's metadata, with the number of files and the newest's time at that moment."""

    files: tuple[int, float | None]
    counts: KeyCounts
    read_at: float


class MetadataRevision(NamedTuple):
    """A revision of an owner's metadata: changes made by this process, file count, time of the newest file."""

    changes: int
    files: int
    newest: float | None


class MetadataRepository:
    """Reads and changes metadata; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes: Counter[str] = Counter()
        self._files: dict[str, tuple[int, int, float | None]] = {}  # `writes` at reading, files, newest
        self._waiting: list[_Wanted] = []
        self._writing: asyncio.Task[None] | None = None
        self._counted: dict[str, _Counted] = {}
        self._readings: dict[tuple[str, MetadataRevision], asyncio.Task[KeyCounts]] = {}
        self._begun = self._under_way = 0  # transactions that change metadata

    async def change(self, owner_id: str, resource_id: str, change: FileChange) -> str | None:
        """Changes a file and marks its index payloads as outdated; returns the stamp, or None if nothing changed.

        Raises `NotFound`, and `Conflict` if another file in one of its projects has the identifier.
        """
        wanted = _Wanted(owner_id, resource_id, change, asyncio.get_running_loop().create_future())
        if not self._database.is_sqlite:
            await self._write([wanted])
            return wanted.done.result()
        self._waiting.append(wanted)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_waiting())
        return await wanted.done

    async def _write_waiting(self) -> None:
        """Writes queued changes until none are left.

        On SQLite, changes that wait for the writer share a transaction.
        """
        while self._waiting:
            batch, self._waiting = self._waiting[:_MAX_TOGETHER], self._waiting[_MAX_TOGETHER:]
            await self._write([one for one in batch if not one.done.done()])

    async def _write(self, batch: Sequence[_Wanted]) -> None:
        """Makes changes in one transaction; a rejected one does not affect the others."""
        stamps: dict[str, str] = {}
        refused: dict[int, CitewellError] = {}
        deltas: list[_Delta] = []
        self._begun += 1
        self._under_way += 1
        try:
            async with self._database.write() as connection:
                known = await _metadata_for_update(connection, {one.resource_id for one in batch})
                for one in batch:
                    try:
                        deltas.append(await _change(connection, one, known))
                    except CitewellError as error:
                        refused[id(one)] = error
                changed = {one.resource_id for one in batch if id(one) not in refused and one.change.is_any}
                stamps = await connection.run_sync(note_changes, sorted(changed))
        except IntegrityError as error:  # on Postgres: another file took the identifier between our check and update
            conflict = Conflict(f"Another file in this project is called {named(batch[0].change.identifier)}.")
            conflict.__cause__ = error
            refused, deltas = {id(one): conflict for one in batch}, []
        except (CitewellError, SQLAlchemyError, OSError) as error:
            for one in batch:
                one.fail(error)
            return
        finally:
            self._under_way -= 1
        for delta in deltas:
            self._follow(delta)
        for one in batch:
            self._changes[one.owner_id] += 1
            refusal = refused.get(id(one))
            if refusal is not None:
                one.fail(refusal)
            elif not one.done.done():
                one.done.set_result(stamps.get(one.resource_id) if one.change.is_any else None)

    def _follow(self, delta: _Delta) -> None:
        """Updates an owner's cached counts after a committed change."""
        known = self._counted.get(delta.owner_id)
        if known is not None and delta.before is not delta.after:
            known.counts.add(delta.before, -1)
            known.counts.add(delta.after)

    async def resolve(
        self, owner_id: str, names: Sequence[str], project_ids: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Resolves ids and identifiers of the owner's files to ids, in order.

        project_ids: where to look; None for everywhere. Raises `NotFound` for a name that no file there has, and
        `Conflict` for an identifier that several files share in different projects.
        """
        found = await self._by_id(owner_id, [name for name in names if is_resource_id(name)], project_ids)
        other = [name for name in names if name not in found]
        called = await self._by_identifier(owner_id, other, project_ids)
        for name in other:
            holders = called.get(_key(name), set())
            if not holders:
                raise NotFound(f"The file {named(name)} does not exist, or you have no access to it.")
            if len(holders) > 1:
                raise Conflict(
                    f"Files in several projects are called {named(name)}. Specify the project, or give an id."
                )
        return tuple(name if name in found else next(iter(called[_key(name)])) for name in names)

    async def revision(self, owner_id: str) -> MetadataRevision:
        """Returns the revision of the owner's metadata.

        Every search needs it, and counting 100,000 files takes 16 ms, so on SQLite it is cached until the next write.
        """
        writes, known = self._database.writes, self._files.get(owner_id)
        if known is None or known[0] != writes or not self._database.is_sqlite:
            row = (await self._database.rows(_FILES, {"owner": owner_id}))[0]
            if len(self._files) >= _MAX_REVISIONS:
                self._files.clear()
            known = self._files[owner_id] = writes, row["files"], row["newest"]
        return MetadataRevision(self._changes[owner_id], *known[1:])

    async def keys(self, owner_id: str, resource_ids: Sequence[str] | None = None) -> list[MetadataKey]:
        """Returns the metadata keys of the owner's files (or these), with value types and most frequent texts."""
        if resource_ids is None:
            return list((await self._count(owner_id, await self.revision(owner_id))).keys())
        query = sa.select(resources.c.id, resources.c.metadata)
        if len(resource_ids) <= _MAX_PARAMETERS:
            query = query.where(unindexed(resources.c.owner_id) == owner_id, resources.c.id.in_(resource_ids))
        else:
            query = query.where(resources.c.owner_id == owner_id)
        wanted, counts = set(resource_ids), KeyCounts()
        for row in await self._database.rows(query):
            if row["id"] in wanted:
                counts.add(metadata_of(row["metadata"]))
        return list(counts.keys())

    async def keys_within(self, owner_id: str, project_ids: Sequence[str]) -> list[MetadataKey]:
        """Like `keys`, for the owner's files in these projects."""
        inside = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id.in_(project_ids))
        said = (
            sa.select(resources.c.metadata, sa.func.count().label("files"))
            .where(unindexed(resources.c.owner_id) == owner_id, resources.c.id.in_(inside))
            .group_by(resources.c.metadata)
        )
        counts = await asyncio.to_thread(_counted, await self._database.rows(said))
        return list(counts.keys())

    async def require_keys(self, owner_id: str, filters: Sequence[Expression], kept_to: Sequence[str] | None) -> None:
        """Raises `InvalidFilter` for a metadata key, or a type of its value, that none of the owner's files has.

        kept_to: ids of the projects that the caller is restricted to, or None. The error lists keys, so only their
        files count.
        """
        if any(metadata_key(condition.field) for condition in conditions_in(filters)):
            known = self.keys(owner_id) if kept_to is None else self.keys_within(owner_id, kept_to)
            validate_keys(filters, await known)

    async def recent_keys(self, owner_id: str, revision: MetadataRevision, seconds: float) -> list[MetadataKey]:
        """Like `keys` for all files, from counts at most `seconds` old, updated with this process's changes.

        If other processes share the database, each revision is counted again.
        """
        known = self._counted.get(owner_id)
        if known is not None and known.files == revision[1:] and time.monotonic() - known.read_at < seconds:
            return list(known.counts.keys())
        return list((await self._count(owner_id, revision)).keys())

    async def _count(self, owner_id: str, revision: MetadataRevision) -> KeyCounts:
        """Counts the metadata of all the owner's files. Concurrent requests for one revision share the work."""
        wanted = owner_id, revision
        reading = self._readings.get(wanted)
        if reading is None:
            reading = self._readings[wanted] = asyncio.create_task(self._read_counts(owner_id, revision))
            reading.add_done_callback(lambda _: self._readings.pop(wanted))
            reading.add_done_callback(_look_at_failure)
        return await asyncio.shield(reading)

    async def _read_counts(self, owner_id: str, revision: MetadataRevision) -> KeyCounts:
        """Reads the counts; on SQLite, caches them unless a change was in progress."""
        begun, now = self._begun, time.monotonic()
        counts = await asyncio.to_thread(_counted, await self._database.rows(_SAID, {"owner": owner_id}))
        if self._database.is_sqlite and begun == self._begun and not self._under_way:
            if len(self._counted) >= _MAX_COUNTED:
                self._counted.clear()
            self._counted[owner_id] = _Counted(revision[1:], counts, now)
        return counts

    async def facts(self, owner_id: str, resource_ids: Sequence[str]) -> dict[str, FileFacts]:
        """Returns the facts that filters use about the owner's files among these few hundred ids."""
        mine = sa.select(resources.c.id).where(
            unindexed(resources.c.owner_id) == owner_id, resources.c.id.in_(resource_ids)
        )
        return await file_facts(self._database, [row["id"] for row in await self._database.rows(mine)])

    async def filtered_ids(self, owner_id: str, filter: ResourceFilter) -> tuple[str, ...]:
        """Returns the ids of the owner's files that match a filter, newest first."""
        conditions = resource_conditions(filter, self._database.is_sqlite)
        query = sa.select(resources.c.id).where(owner_column(filter) == owner_id, *conditions)
        rows = await self._database.rows(query.order_by(resources.c.created_at.desc(), resources.c.id))
        return tuple(row["id"] for row in rows)

    async def with_contained(self, owner_id: str, ids: Sequence[str]) -> tuple[str, ...]:
        """Returns the ids, followed by those of the owner's files inside these files at any depth."""
        return await with_contained(self._database, owner_id, ids)

    async def narrowed(
        self, owner_id: str, scope: Scope, filters: tuple[Expression, ...], kept_to: Sequence[str] | None
    ) -> Scope:
        """Narrows the scope to its resources, and files inside them, that currently match the filters, newest first.

        The scope names projects by id. Raises `InvalidFilter` for filters that file lists do not support, and as
        `require_keys` does.
        """
        await self.require_keys(owner_id, filters, kept_to)
        wanted = ResourceFilter(project_ids=scope.project_ids, conditions=filters)
        chosen, named = await self.filtered_ids(owner_id, wanted), scope.resource_ids
        if named is not None:
            within = frozenset(await self.with_contained(owner_id, named))
            chosen = tuple(one for one in chosen if one in within)
        known = scope.tagged if scope.filters else named
        return replace(scope, resource_ids=chosen, filters=(*scope.filters, *filters), tagged=known)

    async def _by_id(self, owner_id: str, ids: Sequence[str], project_ids: Sequence[str] | None) -> set[str]:
        found: set[str] = set()
        linked = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id.in_(project_ids or ()))
        admitted = sa.true() if project_ids is None else resources.c.id.in_(linked)
        for start in range(0, len(ids), _MAX_PARAMETERS):
            part = ids[start : start + _MAX_PARAMETERS]
            mine = unindexed(resources.c.owner_id) == owner_id
            query = sa.select(resources.c.id).where(mine, resources.c.id.in_(part), admitted)
            found |= {row["id"] for row in await self._database.rows(query)}
        return found

    async def _by_identifier(
        self, owner_id: str, names: Sequence[str], project_ids: Sequence[str] | None
    ) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        table = resource_projects
        for start in range(0, len(names), _MAX_PARAMETERS):
            # No identifier contains a null character, and Postgres rejects one in a parameter.
            given = [name for name in names[start : start + _MAX_PARAMETERS] if "\x00" not in name]
            part = [keyword(spelling) for name in given for spelling in name_spellings(name)]
            query = (
                sa.select(table.c.identifier, table.c.resource_id)
                .join(resources, resources.c.id == table.c.resource_id)
                .where(resources.c.owner_id == owner_id, table.c.identifier.in_(part))
            )
            if project_ids is not None:
                query = query.where(table.c.project_id.in_(project_ids))
            for row in await self._database.rows(query):
                found.setdefault(_key(row["identifier"]), set()).add(row["resource_id"])
        return found


def _key(identifier: str) -> str:
    """Returns an identifier's comparison key; earlier versions stored identifiers without Unicode composition."""
    return keyword(composed_name(identifier))


def _look_at_failure(reading: asyncio.Task[KeyCounts]) -> None:
    """Retrieves a failed reading's exception, in case all who waited for it were canceled."""
    if not reading.cancelled():
        reading.exception()


def _counted(rows: Sequence[Mapping[Any, Any]]) -> KeyCounts:
    counts = KeyCounts()
    for row in rows:
        counts.add(metadata_of(row["metadata"]), row["files"])
    return counts


async def _metadata_for_update(
    connection: AsyncConnection, resource_ids: Iterable[str]
) -> dict[str, tuple[str, Metadata]]:
    """Returns and locks owner and metadata of up to a few hundred resources, until the end of the transaction."""
    query = sa.select(resources.c.id, resources.c.owner_id, resources.c.metadata)
    rows = await connection.execute(query.where(resources.c.id.in_(sorted(resource_ids))).with_for_update())
    return {row[0]: (row[1], metadata_of(row[2])) for row in rows}


async def _change(connection: AsyncConnection, wanted: _Wanted, known: dict[str, tuple[str, Metadata]]) -> _Delta:
    """Makes one change and records the new metadata in `known`. A rejected change raises before anything is written."""
    change, resource_id = wanted.change, wanted.resource_id
    owner, metadata = known.get(resource_id, (None, {}))
    if owner is None or owner != wanted.owner_id:
        raise NotFound("The resource does not exist, or you have no access to it.")
    values: dict[str, Any] = {}
    before = metadata
    if change.metadata is not None:
        metadata = change.metadata(metadata)
        values["metadata"] = dict(metadata)
    if change.thread is not None:
        values["thread"] = change.thread or None
    if change.identifier is not None:
        values["identifier"] = change.identifier or None
        await _rename(connection, resource_id, keyword(change.identifier) or None)
    if values:
        await connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(**values))
        known[resource_id] = (owner, metadata)
    return _Delta(owner, before, metadata)


async def _rename(connection: AsyncConnection, resource_id: str, name: str | None) -> None:
    """Sets a resource's identifier in all of its projects."""
    table = resource_projects
    linked = sa.select(table.c.project_id).where(table.c.resource_id == resource_id)
    project_ids = list((await connection.execute(linked)).scalars())
    await connection.run_sync(check_identifier_free, resource_id, project_ids, name)
    await connection.execute(sa.update(table).where(table.c.resource_id == resource_id).values(identifier=name))
