"""What a search needs of an index that makes both passes of its dense leg, and joins the lists, in one step.

Each step costs the server's interpreter as much as the engine's own work. Where the engine has a process of its own, the joining is done there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from citewell.ports import VectorIndex
from citewell.types import ScoredId, VectorQuery


class Joins(Protocol):
    """How the list of the dense leg is joined with the words' list of the same query. It can be pickled, and so can what it refers to."""

    def pulls(self, dense: Sequence[ScoredId]) -> tuple[tuple[str, float], ...]:
        """The `VectorQuery.pulls` of the second pass, by what the first has found."""
        ...

    def fuse(self, dense: Sequence[ScoredId]) -> list[ScoredId]:
        """Both lists as one, best first."""
        ...


@runtime_checkable
class TwoPassIndex(VectorIndex, Protocol):
    """A vector index that searches twice in one step."""

    async def search_twice(self, query: VectorQuery, joins: Joins) -> tuple[list[ScoredId], list[ScoredId]]:
        """What a query by meaning finds, and what `joins` makes of what it finds once it was pulled; where nothing pulls, of the same.

        Like `VectorIndex.search`, also in what it raises.
        """
        ...
