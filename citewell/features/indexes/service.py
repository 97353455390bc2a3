"""Index administration: list, build, compare, switch, roll back, delete."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from citewell.errors import ConfigurationError, Conflict, InvalidInput, NotFound, SpendingLimitReached, in_dollars
from citewell.features.indexes.comparing import (
    IndexComparison,
    IndexHits,
    QueryComparison,
    milliseconds_since,
    side_figures,
)
from citewell.indexes.estimating import BuildEstimate
from citewell.indexes.migration import IndexMigration
from citewell.storage.conversations.threads import AskedQuestion, ThreadRepository
from citewell.storage.vectors.indexes import BuildMode, BuildOptions, IndexRecord, IndexState
from citewell.types import SearchRequest, SearchResult

MAX_QUERIES = 100
Estimator: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[BuildEstimate]]


class Searches(Protocol):
    """Searches in any open index."""

    async def search_in(self, index_id: str, request: SearchRequest) -> SearchResult:
        """This index's hits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexService:
    """Index administration. Only the local owner, who runs the server, may change what everybody searches.

    questions: what owners have asked; estimator: estimates builds; max_spend: US dollars per month, None for no limit
    """

    migration: IndexMigration
    searches: Searches
    local_owner: str
    estimator: Estimator
    questions: ThreadRepository
    max_spend: float | None = None

    async def list(self, owner_id: str) -> Sequence[IndexRecord]:
        """All indexes, oldest first."""
        self._check(owner_id)
        return await self.migration.records.all()

    async def get(self, owner_id: str, index_id: str) -> IndexRecord:
        """One index."""
        self._check(owner_id)
        return await self.migration.records.get(index_id)

    async def build(
        self, owner_id: str, settings: Mapping[str, Any], options: BuildOptions | None = None, confirm: bool = False
    ) -> IndexRecord:
        """Start building an index for another model or store beside the active one, or in its place.

        Raises `SpendingLimitReached` if it costs more than is left, and `Conflict` for an unconfirmed fresh build.
        """
        self._check(owner_id)
        options = options or BuildOptions()
        await self._require_allowance(owner_id, settings)
        if options.mode is BuildMode.FRESH and not confirm:
            estimate = await self.estimate(owner_id, settings)
            raise Conflict(
                "A fresh build drops the index that answers; until the new one is complete, questions are answered by words and from "
                f"what it has so far. It would embed {estimate.plan.texts:,} texts in about {estimate.seconds / 60:.1f} minutes. "
                "Confirm it with `confirm` (`--yes`)."
            )
        try:
            return await self.migration.begin(settings, options)
        except ConfigurationError as error:
            raise InvalidInput(f"This index cannot be built: {error.message}") from error

    async def _require_allowance(self, owner_id: str, settings: Mapping[str, Any]) -> None:
        if self.max_spend is None:
            return
        estimate = await self.estimate(owner_id, settings)
        if estimate.exceeds:
            raise SpendingLimitReached(
                f"This build would cost about {in_dollars(estimate.dollars or 0.0)} US dollars, and {in_dollars(max(0.0, estimate.left or 0.0))} are left of "
                f"the month's {in_dollars(self.max_spend)}. Raise CITEWELL_MAX_SPEND to build it."
            )

    async def change(
        self, owner_id: str, index_id: str, changes: Mapping[str, Any], paused: bool | None
    ) -> IndexRecord:
        """Change a build's options, then pause, resume or (if offered) start it."""
        self._check(owner_id)
        record = await self.migration.records.get(index_id)
        if changes:
            await self.migration.change(index_id, replace(record.build, **changes))
        if paused is True:
            return await self.migration.pause(index_id)
        if paused is False:
            record = await self.migration.records.get(index_id)
            if record.state is IndexState.OFFERED:
                return await self.build(owner_id, record.settings, record.build)
            index = self.migration.indexes.find(index_id)
            if index is None or not record.is_being_built:
                raise Conflict("This index is not being built, or could not be opened.", state=record.state.value)
            await self.migration.resume(index)
        return await self.migration.records.get(index_id)

    async def estimate(self, owner_id: str, settings: Mapping[str, Any]) -> BuildEstimate:
        """Estimate building an index for this model. Nothing is built, and no provider is called."""
        self._check(owner_id)
        try:
            return await self.estimator(settings)
        except ConfigurationError as error:
            raise InvalidInput(f"This index cannot be built: {error.message}") from error

    async def switch(self, owner_id: str, index_id: str) -> IndexRecord:
        """Switch to an index, or back."""
        self._check(owner_id)
        return await self.migration.switch(index_id)

    async def delete(self, owner_id: str, index_id: str) -> None:
        """Delete an index that is not active."""
        self._check(owner_id)
        await self.migration.drop(index_id)

    async def compare(self, owner_id: str, index_id: str, queries: Sequence[str] | None, top_k: int) -> IndexComparison:
        """Run the given questions, or else the owner's latest ones, in the active index and in this one."""
        self._check(owner_id)
        if queries is not None and not 1 <= len(queries) <= MAX_QUERIES:
            raise InvalidInput(f"Give 1 to {MAX_QUERIES} queries.")
        other = await self.migration.records.get(index_id)
        if queries is None:
            asked = await self.questions.asked(owner_id, MAX_QUERIES)
        else:
            asked = [AskedQuestion(query, ()) for query in queries]
        compared = [await self._compare(owner_id, index_id, one, top_k) for one in asked]
        active = self.migration.indexes.active.record
        return IndexComparison(
            queries=tuple(compared),
            ours=side_figures(compared, [one.ours for one in compared], top_k, self._dollars(active, asked)),
            theirs=side_figures(compared, [one.theirs for one in compared], top_k, self._dollars(other, asked)),
            cutoff=top_k,
        )

    async def _compare(self, owner_id: str, index_id: str, asked: AskedQuestion, top_k: int) -> QueryComparison:
        request = SearchRequest(owner_id=owner_id, query=asked.question, top_k=top_k)
        started = time.perf_counter()
        active = await self.searches.search_in(self.migration.indexes.active.record.id, request)
        ours = IndexHits(active.hits, milliseconds_since(started))
        started = time.perf_counter()
        other = await self.searches.search_in(index_id, request)
        theirs = IndexHits(other.hits, milliseconds_since(started))
        return QueryComparison(query=asked.question, ours=ours, theirs=theirs, cited=asked.cited)

    def _dollars(self, record: IndexRecord, asked: Sequence[AskedQuestion]) -> float | None:
        """The cost of embedding 1,000 such questions; None if the model has no price."""
        index, price = self.migration.indexes.find(record.id), self.migration.price(record)
        if index is None or not asked or (price is None):
            return None
        tokens = sum(index.embedder.tokenizer.count([one.question for one in asked]))
        return round(1_000 * price * tokens / len(asked), 6)

    def _check(self, owner_id: str) -> None:
        if owner_id != self.local_owner:
            raise NotFound("Only the server's owner can manage indexes.")
