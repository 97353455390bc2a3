"""A vector index over a vector-only store; counts, lexical search and unsupported filters come from a ledger in SQL.

The store's visible state may lag behind acknowledged writes, so nothing is inferred from it: counts come from
acknowledged writes, and searches omit points deleted or changed since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from citewell.errors import Unavailable
from citewell.filters.predicates import admits
from citewell.ports import Capability, FloatMatrix
from citewell.ports.points import in_parts, pulled
from citewell.ports.remote_vectors import RemoteVectors
from citewell.storage.vectors.point_ledger import LedgerEntry, PointLedger
from citewell.types import AnyOf, Expression, Filter, JsonObject, Point, ScoredId, VectorQuery

# Maximum results requested per search while replacing hits that no longer exist.
_MAX_ASKED = 10_000


class LedgeredIndex:
    """Implements `citewell.ports.remote_vectors.EventualIndex`, with lexical search and every filter."""

    def __init__(self, store: RemoteVectors, ledger: PointLedger) -> None:
        self._store = store
        self._ledger = ledger
        self._closed = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The store's capabilities, plus `SPARSE` and `FILTERS`."""
        return self._store.capabilities | {Capability.SPARSE, Capability.FILTERS}

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`. A point without a vector is stored in the ledger only."""
        self._check_open()
        latest = list({point.id: point for point in points}.values())
        with_vector = [point for point in latest if point.dense is not None or point.text is not None]
        sent = {point.id for point in with_vector}
        known = await self._ledger.entries([point.id for point in latest])
        before = [entry for entry in known if entry.id not in sent]
        await self._ledger.note(latest, [point.id for point in with_vector if not self._store.holds_all_of(point)])
        # An interrupted attempt may have sent some texts already; do not pay for them twice.
        tried = {entry.id for entry in known if entry.has_vector}
        held = await self._store.embedded([one for one in with_vector if one.text is not None and one.id in tried])
        if len(held) < len(with_vector):
            await self._store.upsert([one for one in with_vector if one.id not in held])
        await self._delete_records(before)
        await self._ledger.confirm([point.id for point in latest])

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`.

        Dense scores are the store's; lexical scores are BM25 with the IDF of the owner's points.
        """
        self._check_open()
        if query.limit < 1:
            return []
        if query.sparse is not None:
            return await self._ledger.search(query.sparse, query.filter, query.limit)
        if query.dense is None and query.text is None:
            raise ValueError("A vector query needs a dense vector, a sparse vector or a text.")
        if query.dense is not None and query.pulls:
            vectors = await self._store.vectors(query.filter.owner_id, [key for key, _ in query.pulls])
            moved = pulled(query.dense, query.pulls, vectors)
            query = replace(query, dense=tuple(moved.tolist()), pulls=())
        parts = await self._parts(query.filter)
        found = await asyncio.gather(*[self._among(query, part, ids) for part, ids in parts])
        best = sorted((item for one in found for item in one), key=lambda item: (-item.score, item.id))
        return best[: query.limit]

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        self._check_open()
        known = [entry for entry in await self._ledger.entries(ids) if entry.has_vector and entry.written]
        found: dict[str, FloatMatrix] = {}
        for owner_id, keys in _by_owner(known):
            found |= await self._store.vectors(owner_id, keys)
        return found

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`."""
        self._check_open()
        changed = [(entry, {**entry.payload, **payload}) for entry in await self._ledger.admitted(filter)]
        cut = [entry.id for entry, after in changed if entry.has_vector and not self._fits(entry, after)]
        await self._ledger.set_payloads([(entry.id, after) for entry, after in changed], cut)
        records = [(entry.id, entry.payload, after) for entry, after in changed if entry.has_vector]
        if records:
            await self._store.set_payloads(filter.owner_id, records)

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        self._check_open()
        if filter.resource_ids == () or filter.types == ():
            return
        gone = await self._ledger.admitted(filter)
        await self._delete_records(gone)
        if not filter.conditions and filter.types is None:
            await self._store.sweep(filter.owner_id, filter.resource_ids)
        await self._ledger.forget([entry.id for entry in gone])

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        self._check_open()
        gone = await self._ledger.entries(ids)
        await self._delete_records(gone)
        await self._ledger.forget([entry.id for entry in gone])

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`; counts acknowledged writes.

        Without a filter, raises `Unavailable` if the store does not respond.
        """
        self._check_open()
        if filter is None:
            await self._store.check()
        return await self._ledger.count(filter)

    async def settle(self) -> None:
        """See `EventualIndex.settle`."""
        self._check_open()
        await self._store.settle()

    async def close(self) -> None:
        """See `VectorIndex.close`."""
        if not self._closed:
            self._closed = True
            await self._store.close()

    async def _parts(self, filter: Filter) -> list[tuple[Filter, Sequence[str] | None]]:
        """Translate a filter into disjoint parts that the store can evaluate: simpler filters, with ids if needed."""
        if filter.resource_ids == () or filter.types == () or AnyOf(()) in filter.conditions:
            return []
        hard = await self._beyond_the_store(filter)
        if not hard:
            return self._split(filter)
        admitted = [entry for entry in await self._ledger.admitted(filter) if entry.has_vector]
        resources = sorted({entry.resource_id for entry in admitted})
        plain = replace(filter, conditions=tuple(one for one in filter.conditions if one not in hard))
        files = replace(plain, resource_ids=tuple(resources))
        of_files = await self._ledger.admitted(files) if len(resources) < len(admitted) else []
        if resources and sum(entry.has_vector for entry in of_files) == len(admitted):
            return self._split(files)
        ids = [entry.id for entry in admitted]
        base = replace(plain, resource_ids=None)
        return [(base, part) for part in in_parts(ids, self._store.max_values)]

    def _split(self, filter: Filter) -> list[tuple[Filter, Sequence[str] | None]]:
        if filter.resource_ids is None:
            return [(filter, None)]
        parts = in_parts(filter.resource_ids, self._store.max_values)
        return [(replace(filter, resource_ids=tuple(part)), None) for part in parts]

    async def _beyond_the_store(self, filter: Filter) -> list[Expression]:
        """The conditions that the store cannot evaluate: all, if any record of the owner lacks part of its payload."""
        if filter.conditions and await self._ledger.has_cut(filter.owner_id):
            return list(filter.conditions)
        return [one for one in filter.conditions if not self._store.expresses(one)]

    async def _among(self, query: VectorQuery, filter: Filter, ids: Sequence[str] | None) -> list[ScoredId]:
        """Search one part. Hits that the ledger no longer admits are replaced by the next best."""
        asked = query.limit
        while True:
            shown = await self._store.search(replace(query, filter=filter, limit=asked), ids)
            entries = await self._ledger.entries([one.id for one in shown])
            current = {one.id for one in entries if one.has_vector and admits(query.filter, one.payload)}
            kept = [one for one in shown if one.id in current]
            if len(kept) >= query.limit or len(shown) < asked or asked >= _MAX_ASKED:
                return kept[: query.limit]
            asked = min(_MAX_ASKED, 2 * asked)

    def _fits(self, entry: LedgerEntry, payload: JsonObject) -> bool:
        return self._store.holds_all_of(Point(id=entry.id, dense=None, sparse=None, payload=payload))

    async def _delete_records(self, entries: Sequence[LedgerEntry]) -> None:
        for owner_id, keys in _by_owner([entry for entry in entries if entry.has_vector]):
            await self._store.delete(owner_id, keys)

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The index is closed.")


def _by_owner(entries: Sequence[LedgerEntry]) -> list[tuple[str, list[str]]]:
    owner = attrgetter("owner_id")
    return [(owner_id, [one.id for one in group]) for owner_id, group in groupby(sorted(entries, key=owner), owner)]
