"""Lets the conformance suite test a store that shows writes late."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.ports import Capability, VectorIndex
from citewell.ports.remote_vectors import EventualIndex
from citewell.types import Filter, JsonObject, Point


class _Settling:
    """An eventual index whose writes return once searches see them."""

    def __init__(self, inner: EventualIndex) -> None:
        self._inner = inner
        self.capabilities = inner.capabilities
        self.search = inner.search
        self.vectors = inner.vectors
        self.count = inner.count
        self.close = inner.close

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write, and wait."""
        await self._inner.upsert(points)
        await self._inner.settle()

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """Write, and wait."""
        await self._inner.set_payload(filter, payload)
        await self._inner.settle()

    async def delete(self, filter: Filter) -> None:
        """Write without waiting: what is gone from the ledger is never found."""
        await self._inner.delete(filter)

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """As `delete`."""
        await self._inner.delete_ids(ids)


def settling(index: VectorIndex) -> VectorIndex:
    """The index; if it declares `EVENTUAL`, each write waits until searches see it."""
    if Capability.EVENTUAL not in index.capabilities:
        return index
    assert isinstance(index, EventualIndex)
    return _Settling(index)
