"""Protocol for indexes that run both dense passes of a search in one call.

Per call, the server's interpreter spends about as much time as the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from citewell.ports import VectorIndex
from citewell.types import ScoredId, VectorQuery


class Pulling(Protocol):
    """Computes what pulls the query after the first pass.

    Must be picklable, because an engine may run in its own process.
    """

    def pulls(self, dense: Sequence[ScoredId]) -> tuple[tuple[str, float], ...]:
        """The `VectorQuery.pulls` of the second pass, from the first pass's hits."""
        ...


@runtime_checkable
class TwoPassIndex(VectorIndex, Protocol):
    """A vector index that searches twice in one call."""

    async def search_twice(self, query: VectorQuery, pulling: Pulling) -> tuple[list[ScoredId], list[ScoredId]]:
        """The hits of a dense query, then its hits after those pulled it; the same list twice if nothing pulls.

        Otherwise like `VectorIndex.search`, with the same errors.
        """
        ...
