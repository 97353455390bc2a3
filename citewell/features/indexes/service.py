"""Indexes as an administrator sees them: list, build, compare, switch, roll back, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from citewell.errors import ConfigurationError, InvalidInput, NotFound, SpendingLimitReached
from citewell.indexes.estimating import BuildEstimate
from citewell.indexes.migration import IndexMigration
from citewell.storage.indexes import IndexRecord
from citewell.types import SearchRequest, SearchResult

_MAX_QUERIES = 100
Estimator: TypeAlias = Callable[[dict[str, Any]], Awaitable[BuildEstimate]]


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """One query in two indexes: the hits' ids, and the share of the first index's hits that the second has too."""

    query: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    overlap: float


class Searches(Protocol):
    """Searches in the active index, or in another open one."""

    async def search(self, request: SearchRequest) -> SearchResult:
        """What the active index finds."""
        ...

    async def search_in(self, index_id: str, request: SearchRequest) -> SearchResult:
        """What this index finds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexService:
    """Only the local owner, who runs the server, may change what answers everybody.

    estimator: what building the index of a model would take; max_spend: US dollars per month, None is no limit
    """

    migration: IndexMigration
    searches: Searches
    local_owner: str
    estimator: Estimator
    max_spend: float | None = None

    async def list(self, owner_id: str) -> Sequence[IndexRecord]:
        """All indexes, oldest first."""
        self._check(owner_id)
        return await self.migration.records.all()

    async def get(self, owner_id: str, index_id: str) -> IndexRecord:
        """One index."""
        self._check(owner_id)
        return await self.migration.records.get(index_id)

    async def build(self, owner_id: str, settings: dict[str, Any], pause_seconds: float) -> IndexRecord:
        """Begin to build the index of another model beside the active one. `SpendingLimitReached` when it costs more than is left."""
        if self.max_spend is not None:
            estimate = await self.estimate(owner_id, settings)
            if estimate.exceeds:
                raise SpendingLimitReached(
                    f"This build would cost about {estimate.dollars:.2f} US dollars, and {max(0.0, estimate.left or 0.0):.2f} are left of "
                    f"the month's {self.max_spend:.2f}. Raise CITEWELL_MAX_SPEND to build it."
                )
        self._check(owner_id)
        try:
            return await self.migration.begin(settings, pause_seconds)
        except ConfigurationError as error:
            raise InvalidInput(f"This model cannot be used: {error.message}") from error

    async def estimate(self, owner_id: str, settings: dict[str, Any]) -> BuildEstimate:
        """What building the index of this model would take; nothing is built, and nobody is asked."""
        self._check(owner_id)
        try:
            return await self.estimator(settings)
        except ConfigurationError as error:
            raise InvalidInput(f"This model cannot be used: {error.message}") from error

    async def switch(self, owner_id: str, index_id: str) -> IndexRecord:
        """Let an index answer; also the way back."""
        self._check(owner_id)
        return await self.migration.switch(index_id)

    async def delete(self, owner_id: str, index_id: str) -> None:
        """Delete an index that does not answer."""
        self._check(owner_id)
        await self.migration.drop(index_id)

    async def compare(self, owner_id: str, index_id: str, queries: Sequence[str], top_k: int) -> list[QueryComparison]:
        """The same queries in the active index and in this one."""
        self._check(owner_id)
        if not 1 <= len(queries) <= _MAX_QUERIES:
            raise InvalidInput(f"Give 1 to {_MAX_QUERIES} queries.")
        await self.migration.records.get(index_id)
        return [await self._compare(owner_id, index_id, query, top_k) for query in queries]

    async def _compare(self, owner_id: str, index_id: str, query: str, top_k: int) -> QueryComparison:
        request = SearchRequest(owner_id=owner_id, query=query, top_k=top_k)
        active, other = await self.searches.search(request), await self.searches.search_in(index_id, request)
        ours = tuple(hit.chunk.id for hit in active.hits)
        theirs = tuple(hit.chunk.id for hit in other.hits)
        shared = len(set(ours) & set(theirs)) / len(ours) if ours else 1.0
        return QueryComparison(query, ours, theirs, round(shared, 4))

    def _check(self, owner_id: str) -> None:
        if owner_id != self.local_owner:
            raise NotFound("Indexes are managed by the owner of the server.")
