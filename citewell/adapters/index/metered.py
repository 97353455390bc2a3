"""Usage accounting and rate and spending limits for stores that embed texts themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, nullcontext

from citewell.adapters.gate import QUERY_SECONDS, Gate
from citewell.ports import Capability, FloatMatrix, RemoteEmbedder
from citewell.ports.metering import spend
from citewell.ports.points import OWNER, in_parts
from citewell.ports.remote_vectors import RemoteVectors
from citewell.types import Expression, JsonObject, Point, ScoredId, Usage, VectorQuery


class MeteredVectors:
    """Implements `citewell.ports.remote_vectors.RemoteVectors` around a store that embeds texts.

    embedder: the model that the store runs; counts tokens and defines the texts per call
    gate:     asked before each call that embeds; None without limits
    """

    def __init__(self, inner: RemoteVectors, embedder: RemoteEmbedder, gate: Gate | None) -> None:
        self._inner = inner
        self._embedder = embedder
        self._gate = gate
        self.max_values = inner.max_values

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The store's capabilities."""
        return self._inner.capabilities

    def expresses(self, condition: Expression) -> bool:
        """See `RemoteVectors.expresses`."""
        return self._inner.expresses(condition)

    def holds_all_of(self, point: Point) -> bool:
        """See `RemoteVectors.holds_all_of`."""
        return self._inner.holds_all_of(point)

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `RemoteVectors.upsert`; texts pass the gate one call at a time."""
        by_owner: dict[object, list[Point]] = {}
        for point in points:
            by_owner.setdefault(point.payload[OWNER], []).append(point)
        parts = [part for own in by_owner.values() for part in in_parts(own, self._embedder.limits.texts)]
        await asyncio.gather(*[self._write(part) for part in parts])

    async def embedded(self, points: Sequence[Point]) -> set[str]:
        """See `RemoteVectors.embedded`."""
        return await self._inner.embedded(points)

    async def search(self, query: VectorQuery, ids: Sequence[str] | None = None) -> list[ScoredId]:
        """See `RemoteVectors.search`."""
        async with self._embedding([] if query.text is None else [query.text], is_query=True):
            return await self._inner.search(query, ids)

    async def vectors(self, owner_id: str, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `RemoteVectors.vectors`."""
        return await self._inner.vectors(owner_id, ids)

    async def set_payloads(self, owner_id: str, changes: Sequence[tuple[str, JsonObject, JsonObject]]) -> None:
        """See `RemoteVectors.set_payloads`."""
        await self._inner.set_payloads(owner_id, changes)

    async def delete(self, owner_id: str, ids: Sequence[str]) -> None:
        """See `RemoteVectors.delete`."""
        await self._inner.delete(owner_id, ids)

    async def sweep(self, owner_id: str, resource_ids: Sequence[str] | None) -> None:
        """See `RemoteVectors.sweep`."""
        await self._inner.sweep(owner_id, resource_ids)

    async def check(self) -> None:
        """See `RemoteVectors.check`."""
        await self._inner.check()

    async def settle(self) -> None:
        """See `RemoteVectors.settle`."""
        await self._inner.settle()

    async def close(self) -> None:
        """See `RemoteVectors.close`."""
        await self._inner.close()

    async def _write(self, points: Sequence[Point]) -> None:
        async with self._embedding([point.text for point in points if point.text is not None], is_query=False):
            await self._inner.upsert(points)

    @asynccontextmanager
    async def _embedding(self, texts: Sequence[str], *, is_query: bool) -> AsyncGenerator[None]:
        """Run the block as a call that embeds these texts: waits for admission, and counts the usage on success."""
        if not texts:
            yield
            return
        counts = await asyncio.to_thread(self._embedder.tokenizer.count, texts)
        tokens = sum(min(count, self._embedder.max_tokens) for count in counts)
        patience = QUERY_SECONDS if is_query else None
        admitted = self._gate and self._gate.admitted(tokens, is_query=is_query, patience=patience)
        async with admitted or nullcontext():
            yield
        name = self._embedder.fingerprint
        spend(Usage(kind="embedding", provider=name.provider, model=name.model, input_tokens=tokens, units=len(texts)))
