"""What a search needs of an index that makes both passes of its dense leg in one step.

Each step costs the server's interpreter about as much as it costs the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from citewell.ports import VectorIndex
from citewell.types import ScoredId, VectorQuery


class Pulling(Protocol):
    """What pulls a query once the index has been searched. It can be pickled, as an engine may have a process of its own."""

    def pulls(self, dense: Sequence[ScoredId]) -> tuple[tuple[str, float], ...]:
        """The `VectorQuery.pulls` of the second pass, by what the first has found."""
        ...


@runtime_checkable
class TwoPassIndex(VectorIndex, Protocol):
    """A vector index that searches twice in one step."""

    async def search_twice(self, query: VectorQuery, pulling: Pulling) -> tuple[list[ScoredId], list[ScoredId]]:
        """What a query by meaning finds, and what it finds once that has pulled it: the same where nothing pulls.

        Like `VectorIndex.search`, also in what it raises.
        """
        ...
