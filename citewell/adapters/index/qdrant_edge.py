"""The embedded vector store: Qdrant Edge, in one folder."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from citewell.adapters.index import qdrant_edge_engine as engine
from citewell.adapters.index.qdrant_conditions import fields_of
from citewell.adapters.index.qdrant_edge_folder import ShardFolder, copy_sparsely
from citewell.adapters.index.qdrant_edge_shards import OWN_PROCESS_FROM, LocalShard, Shard, copy_points, open_shard
from citewell.adapters.index.write_pace import WINDOW, WritePace
from citewell.errors import CitewellError, DiskFull, Unavailable
from citewell.filters.predicates import admits_nothing
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.ports.points import OWNER
from citewell.ports.second_pass import Pulling
from citewell.settings import EdgeStore
from citewell.system.batching import Batcher, outcome
from citewell.system.disk import MIN_FREE_BYTES, DiskReserve, disk_bytes, disk_errors
from citewell.types import Filter, JsonObject, Point, ScoredId, VectorQuery

_log = logging.getLogger(__name__)
_UPSERT_BATCH = 500
_SEARCHES_PER_STEP = 8
# A compaction starts when 1/20 of the points have no search graph, or when deleted points number 1/4 of those left.
_UNINDEXED_SHARE = 20
_DELETED_SHARE = 4
# Seconds before retrying a compaction that lacked disk space.
_COMPACTION_PAUSE = 300.0
Q = TypeVar("Q")
T = TypeVar("T")
Steps: TypeAlias = Generator[list[tuple[int, T | BaseException]]]


class _Open:
    """An open shard that is closed once it is retired and has no readers."""

    def __init__(self, path: Path, shard: Shard) -> None:
        self.path = path
        self.shard = shard
        self.readers = 0
        self.retired = False


class QdrantEdgeIndex:
    """One index in one folder. Open it with `open`; one process may hold a folder at a time.

    The engine does one thing at a time: waiting searches are sent to it together, writes one after another. Points
    without a search graph are searched by brute force; when there are too many, a compaction runs: a child process
    builds the graphs on a copy, which then replaces the shard, with later writes added. Compaction waits while points
    are written so fast that the graphs would be outdated at once.
    """

    def __init__(
        self, folder: Path, dimensions: int, compact_from: int, search_threads: int, own_process_from: int
    ) -> None:
        self._folder = ShardFolder(folder)
        self._space = DiskReserve(folder, MIN_FREE_BYTES)
        self._dimensions = dimensions
        self._compact_from = compact_from
        self._own_process_from = own_process_from
        self._shard = self._open_current()
        self._points = self._shard.shard.call(engine.points_count)
        self._indexed = self._shard.shard.call(engine.index_fields, engine.ALWAYS_INDEXED)
        # With a single owner, the engine's document frequencies are that owner's and need not be counted per search.
        self._sole_owner = self._folder.sole_owner()
        self._lock = threading.Lock()
        noted = self._folder.unindexed()
        self._unindexed = self._shard.shard.call(engine.unindexed_points) if noted is None else noted
        # Points without a search graph: those written since the last compaction began; until it ends, also earlier
        # ones.
        self._attempted = self._deleted = 0
        self._pace = WritePace()
        self._touched: set[str] | None = None
        self._compaction: asyncio.Task[None] | None = None
        self._compact_not_before = 0.0
        self._searches = ThreadPoolExecutor(search_threads, thread_name_prefix="index-search")
        # One batch of searches at a time, like the engine; other reads use the remaining threads.
        self._asked = Batcher(self._searches, 1, _SEARCHES_PER_STEP, partial(self._answer_all, _found))
        self._asked_twice = Batcher(self._searches, 1, _SEARCHES_PER_STEP, partial(self._answer_all, _found_twice))
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="index-write")
        self._late_start: asyncio.TimerHandle | None = None
        self._closed = False

    @classmethod
    async def open(
        cls,
        folder: Path,
        dimensions: int,
        *,
        compact_from: int = 10_000,
        search_threads: int = 4,
        compact_after: float = 20.0,
        own_process_from: int = OWN_PROCESS_FROM,
    ) -> QdrantEdgeIndex:
        """Open or create the index in `folder`. Raises `Unavailable` if it cannot be opened; then rebuild it from SQL.

        compact_from: number of points without a search graph (and at least 1/20 of all), or of deleted points (and at
        least 1/4 of those left), that starts a compaction.
        compact_after: seconds before compacting what an earlier process left over; shorter commands never start it.
        own_process_from: number of points in a shard from which the engine runs in its own process.
        """
        index = await asyncio.to_thread(cls, folder, dimensions, compact_from, search_threads, own_process_from)
        index._late_start = asyncio.get_running_loop().call_later(compact_after, index._start_compaction)
        return index

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, filters, and persistent writes."""
        return frozenset({Capability.SPARSE, Capability.FILTERS, Capability.PERSISTENT})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`; in the write-ahead log on return."""
        for start in range(0, len(points), _UPSERT_BATCH):
            batch = points[start : start + _UPSERT_BATCH]
            await self._write(self._upsert, batch)
            self._pace.note(len(batch))
        self._start_compaction()

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the corpus."""
        if query.sparse and not query.sparse.indices:
            return []
        return await self._search(query, self._asked, lambda leg: leg) or []

    async def search_twice(self, query: VectorQuery, pulling: Pulling) -> tuple[list[ScoredId], list[ScoredId]]:
        """See `TwoPassIndex.search_twice`."""
        return await self._search(query, self._asked_twice, lambda leg: (leg, pulling)) or ([], [])

    async def _search(
        self, query: VectorQuery, asked: Batcher[Q, T], question: Callable[[engine.LegQuery], Q]
    ) -> T | None:
        """The results of one leg; None if nothing can match."""
        if admits_nothing(query.filter) or query.limit < 1:
            return None
        await self._index_fields_of(query.filter)
        sole = self._sole_owner
        if sole not in (None, query.filter.owner_id):
            self._require_open()
            return None
        with self._failures():
            found = await asked.ask(question((query, sole is not None)))
            # Another owner's points may have arrived meanwhile; `_sole_owner` changes before they are written.
            return found if self._sole_owner == sole else await asked.ask(question((query, False)))

    def _answer_all(self, search: Callable[[Shard, Sequence[Q]], list[T]], asked: Sequence[Q]) -> Steps[T]:
        with self._reading() as shard:
            found = outcome(search, shard, asked)
            if isinstance(found, Exception):  # the engine does not report which of several queries failed
                alone = [outcome(search, shard, [one]) for one in asked]
                yield [(n, one if isinstance(one, Exception) else one[0]) for n, one in enumerate(alone)]
            else:
                yield list(enumerate(found))

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        return await self._read(lambda shard: shard.call(engine.dense_vectors, ids))

    async def add_vectors(self, vectors: Mapping[str, FloatMatrix]) -> set[str]:
        """See `CompletingIndex.add_vectors`; in the write-ahead log on return."""
        missing: set[str] = set()
        if vectors:
            await self._write(self._add_vectors, (vectors, missing))
            self._pace.note(len(vectors))
            self._start_compaction()
        return missing

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`; in the write-ahead log on return."""
        if not admits_nothing(filter):
            await self._write(self._set_payload, (filter, payload))

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        if not admits_nothing(filter):
            await self._write(self._delete, filter)
            self._start_compaction()

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        if ids:
            await self._write(self._delete_ids, ids)
            self._start_compaction()

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`; exact."""
        if filter is not None and admits_nothing(filter):
            return 0
        if filter is not None:
            await self._index_fields_of(filter)
        return await self._read(lambda shard: shard.call(engine.count, filter))

    async def close(self) -> None:
        """See `VectorIndex.close`; waits for pending work and aborts a compaction."""
        if self._closed:
            return
        self._closed = True
        if self._late_start is not None:
            self._late_start.cancel()
        if self._compaction is not None:
            self._compaction.cancel()
            await asyncio.gather(self._compaction, return_exceptions=True)
        await asyncio.to_thread(self._shut)

    async def settled(self) -> None:
        """Wait until no compaction is running."""
        if self._compaction is not None:
            await asyncio.gather(self._compaction, return_exceptions=True)
            await asyncio.wrap_future(self._writes.submit(_nothing))

    async def _index_fields_of(self, filter: Filter) -> None:
        """Index the fields of a filter, in the write thread, before the first search that uses them."""
        missing = fields_of(filter) - self._indexed
        if missing and len(self._indexed) < engine.MAX_INDEXED_FIELDS:
            try:
                await self._write(self._index_fields, sorted(missing))
            except DiskFull as error:
                _log.warning(
                    "no disk space to index %s, so a search reads payloads. %s", sorted(missing), error.message
                )

    def _open_current(self) -> _Open:
        current = self._folder.current()
        if current is not None:
            opened = open_shard(current, self._dimensions, self._own_process_from)
            self._folder.remove_others()
            return _Open(current, opened)
        fresh = self._folder.next()
        opened = engine.create_shard(fresh, self._dimensions)
        self._folder.note_sole_owner("")
        self._folder.make_current(fresh)
        return _Open(fresh, LocalShard(opened))

    def _shut(self) -> None:
        self._writes.shutdown(wait=True)
        self._searches.shutdown(wait=True)
        try:
            self._shard.shard.close()
        except Exception as error:  # the engine raises nothing more specific, for instance if its folder is gone
            raise Unavailable(f"The index could not be closed properly: {error}") from error

    # Run in the single write thread.

    def _upsert(self, points: Sequence[Point]) -> None:
        self._note_owners(points)
        self._points = self._shard.shard.call(engine.upsert_points, points)
        self._unindexed += len(points)
        self._note_unindexed()
        self._touch([point.id for point in points])

    def _add_vectors(self, change: tuple[Mapping[str, FloatMatrix], set[str]]) -> None:
        vectors, missing = change
        known = self._shard.shard.call(engine.known_ids, list(vectors))
        missing |= vectors.keys() - known
        self._shard.shard.call(engine.add_vectors, {key: vectors[key] for key in known})
        self._unindexed += len(known)
        self._note_unindexed()
        self._touch(list(known))

    def _set_payload(self, change: tuple[Filter, JsonObject]) -> None:
        scope, payload = change
        if self._touched is not None:
            self._touch(self._shard.shard.call(engine.matching_ids, scope))
        self._shard.shard.call(engine.set_payload, scope, payload)

    def _index_fields(self, fields: Iterable[str]) -> None:
        self._indexed = self._shard.shard.call(engine.index_fields, tuple(fields))

    def _delete(self, filter: Filter) -> None:
        if self._touched is None:
            before, self._points = self._points, self._shard.shard.call(engine.delete, filter)
            self._deleted += before - self._points
        else:
            self._delete_ids(self._shard.shard.call(engine.matching_ids, filter))

    def _delete_ids(self, ids: Sequence[str]) -> None:
        if ids:
            self._points = self._shard.shard.call(engine.delete_points, ids)
            self._deleted += len(ids)
            self._touch(ids)

    def _note_owners(self, points: Sequence[Point]) -> None:
        owners = {str(point.payload[OWNER]) for point in points}
        if self._sole_owner is None or owners <= {self._sole_owner}:
            return
        self._sole_owner = owners.pop() if self._sole_owner == "" and len(owners) == 1 else None
        self._folder.note_sole_owner(self._sole_owner)

    def _note_unindexed(self) -> None:
        self._folder.note_unindexed(self._attempted + self._unindexed)

    def _touch(self, ids: Sequence[str]) -> None:
        if self._touched is not None:
            self._touched.update(ids)

    # Compaction.

    def _start_compaction(self) -> None:
        idle = self._compaction is None or self._compaction.done()
        if idle and time.monotonic() >= self._compact_not_before and self._compaction_is_due():
            self._compaction = asyncio.create_task(self._compact())

    def _compaction_is_due(self) -> bool:
        grown = self._unindexed >= max(self._compact_from, self._points // _UNINDEXED_SHARE)
        return grown or self._deleted >= max(self._compact_from, self._points // _DELETED_SHARE)

    async def _compact(self) -> None:
        # Writes during a compaction may require another one; otherwise, it would wait for a later write to trigger it.
        try:
            while self._compaction_is_due():
                if self._pace.overtakes(self._unindexed, self._points):
                    await asyncio.sleep(WINDOW / 4)
                elif not await self._compact_once():
                    break
        except DiskFull as error:
            self._compact_not_before = time.monotonic() + _COMPACTION_PAUSE
            _log.warning("no disk space to build the search graphs; searches continue without them. %s", error.message)

    async def _compact_once(self) -> bool:
        target = self._folder.next()
        try:
            await self._write(self._copy_to, target)
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", engine.__name__, str(target), str(self._dimensions)
            )
            try:
                code = await child.wait()
            finally:
                if child.returncode is None:
                    child.kill()
                    await child.wait()
            if code == 0:
                await self._write(self._switch_to, target)
            else:
                _log.warning(
                    "the search graphs could not be built (exit code %s); searches continue without them", code
                )
            return code == 0
        finally:
            await asyncio.shield(asyncio.wrap_future(self._writes.submit(self._end_compaction)))

    def _copy_to(self, target: Path) -> None:
        self._shard.shard.call(engine.flush)
        # Space for the copy and for the graphs built from it.
        self._space.require(3 * disk_bytes(self._shard.path))
        copy_sparsely(self._shard.path, target)
        self._touched = set()
        self._attempted += self._unindexed
        self._unindexed = self._deleted = 0

    def _switch_to(self, target: Path) -> None:
        fresh = _Open(target, open_shard(target, self._dimensions, self._own_process_from))
        try:
            fresh.shard.call(engine.index_fields, sorted(self._indexed))
            copy_points(self._shard.shard, fresh.shard, sorted(self._touched or ()))
            fresh.shard.call(engine.flush)
            self._folder.make_current(target)
        except BaseException:
            fresh.shard.close()
            raise
        self._attempted = 0
        self._note_unindexed()
        with self._lock:
            old, self._shard = self._shard, fresh
            old.retired = True
            idle = old.readers == 0
        if idle:
            old.shard.close()

    def _end_compaction(self) -> None:
        self._touched = None
        self._folder.remove_others()

    # Reading and writing.

    @contextmanager
    def _reading(self) -> Generator[Shard]:
        with self._lock:
            shard = self._shard
            shard.readers += 1
        try:
            yield shard.shard
        finally:
            with self._lock:
                shard.readers -= 1
                last = shard.retired and shard.readers == 0
            if last:
                shard.shard.close()

    async def _read(self, call: Callable[[Shard], T]) -> T:
        def read() -> T:
            with self._reading() as shard:
                return call(shard)

        return await self._run(self._searches, read)

    async def _write(self, call: Callable[[T], None], argument: T) -> None:
        def write() -> None:
            self._space.require()
            call(argument)

        await self._run(self._writes, write)

    def _require_open(self) -> None:
        if self._closed:
            raise Unavailable("The index is closed.")

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        with self._failures():
            return await asyncio.get_running_loop().run_in_executor(pool, call)

    @contextmanager
    def _failures(self) -> Generator[None]:
        """Convert the engine's errors to Citewell's."""
        self._require_open()
        try:
            with disk_errors():
                yield
        except CitewellError:
            raise
        except Exception as error:  # the engine raises nothing more specific
            raise Unavailable(f"The index operation failed: {error}") from error


def _found(shard: Shard, asked: Sequence[engine.LegQuery]) -> list[list[ScoredId]]:
    return [engine.scored_ids(ranked) for ranked in shard.call(engine.search_all, asked)]


def _found_twice(
    shard: Shard, asked: Sequence[tuple[engine.LegQuery, Pulling]]
) -> list[tuple[list[ScoredId], list[ScoredId]]]:
    both = shard.call(engine.search_twice_all, asked)
    return [(engine.scored_ids(first), engine.scored_ids(second)) for first, second in both]


async def build(settings: EdgeStore, fingerprint: Fingerprint) -> QdrantEdgeIndex:
    """Open the index of a model's vectors; see `QdrantEdgeIndex.open`."""
    return await QdrantEdgeIndex.open(settings.index_folder(str(fingerprint)), fingerprint.dimensions)


def _nothing() -> None:
    """A no-op; when it has run, everything queued before it has too."""
