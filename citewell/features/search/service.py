"""Search over the active index; SQL has the last word on what an owner may see."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from citewell.errors import InvalidInput
from citewell.indexes.index_set import IndexSet, OpenIndex
from citewell.ports import ChatModel, Reranker, close_connections
from citewell.ports.metering import OnSpent, reported
from citewell.retrieve.context import passages_around
from citewell.retrieve.legs import Legs, Searching
from citewell.retrieve.options import RetrievalOptions
from citewell.retrieve.several import MovingLegs, SearchedIndex, SeveralLegs
from citewell.storage.files.passages import SqlChunks
from citewell.storage.vectors.waiting_vectors import WaitingVectorRepository
from citewell.system.tracing import span
from citewell.types import Condition, Expression, Negation, Operator, Scope, SearchRequest, SearchResult

if TYPE_CHECKING:
    from citewell.retrieve.retriever import Retriever

log = logging.getLogger(__name__)
MAX_HITS = 100
MAX_NEIGHBOURS = 10
MAX_QUERY_CHARACTERS = 8_000


@dataclass(slots=True)
class ChatSlot:
    """The chat model that searches currently use; None if there is none."""

    model: ChatModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchService:
    """Searches the active index and, after a switch, the new one.

    on_spent:  records an owner's search usage in the ledger; searches within an answer are recorded with the answer
    top_k:     the default number of hits
    is_logged: whether each search is logged, with its query
    """

    indexes: IndexSet
    chunks: SqlChunks
    waiting: WaitingVectorRepository
    options: RetrievalOptions
    on_spent: OnSpent
    reranker: Reranker | None = None
    chat: ChatSlot = field(default_factory=ChatSlot)
    top_k: int = 10
    is_logged: bool = False
    _retrievers: dict[str, Retriever] = field(default_factory=dict)

    @property
    def notice(self) -> str | None:
        """A notice for readers of results while the index is being rebuilt and incomplete."""
        return self.indexes.notice

    async def prepare(self) -> None:
        """Load what the first search would wait for."""
        await asyncio.to_thread(importlib.import_module, "citewell.retrieve.retriever")

    async def search_for(self, payer: str, request: SearchRequest) -> SearchResult:
        """Like `search`, charged to the owner who asks, even if the files are another owner's."""
        async with reported(payer, self.on_spent):
            return await self.search(request)

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits of `request.owner_id` only, best first. Raises `InvalidInput` for a query or number out of range."""
        if isinstance(request.top_k, bool) or not 1 <= request.top_k <= MAX_HITS:
            raise InvalidInput(f"`top_k` must be from 1 to {MAX_HITS}.")
        if len(request.query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(f"The query is longer than {MAX_QUERY_CHARACTERS:,} characters.")
        around = request.options.neighbours
        if isinstance(around, bool) or not 0 <= around <= MAX_NEIGHBOURS:
            raise InvalidInput(f"`neighbours` must be from 0 to {MAX_NEIGHBOURS}.")
        started = time.perf_counter()
        with span("search", {"citewell.top_k": request.top_k}) as spanning:
            found = await (await self._retriever_for(request)).search(request)
            spanning.note(citewell__hits=len(found.hits))
        if self.is_logged:
            _note(request, found, time.perf_counter() - started)
        if not around:
            return found
        passages = await passages_around(request.owner_id, found.hits, self.chunks, around, around)
        return replace(found, passages=tuple(passages))

    async def holds_any(self, owner_id: str, scope: Scope, words: Sequence[str]) -> bool:
        """Whether any of the owner's chunks in scope contains one of these words."""
        request = SearchRequest(owner_id=owner_id, query="", scope=scope)
        return await (await self._retriever_for(request)).holds_any(request, words)

    async def search_in(self, index_id: str, request: SearchRequest) -> SearchResult:
        """The same search in a given open index, active or not, charged to the owner; for comparing models."""
        async with reported(request.owner_id, self.on_spent):
            return await self._retriever(index_id).search(request)

    async def close(self) -> None:
        """Close the connections of the reranker, if it has any."""
        await close_connections(self.reranker)

    def use_chat(self, model: ChatModel | None) -> None:
        """Use this chat model, or none, from the next search on."""
        self.chat.model = model
        self._retrievers.clear()

    async def _retriever_for(self, request: SearchRequest) -> Retriever:
        """Search the active index, or the indexes given by the request, its projects or a gradual build."""
        asked = request.options.indexes
        if asked is None and len(self.indexes.all) == 1:
            return self._retriever()
        if asked is not None:
            return self._over([(index, ()) for index in self.indexes.named(asked)])
        parts = await self._parts(request)
        if len(parts) == 1 and parts[0][0] is self.indexes.active:
            return self._gradual() or self._retriever()
        return self._over(parts)

    async def _parts(self, request: SearchRequest) -> list[tuple[OpenIndex, tuple[Expression, ...]]]:
        """The indexes chosen by the request's projects, with their part of the request; the active one for the rest."""
        chosen = await self.chunks.projects.chosen_indexes(request.owner_id)
        by_index: dict[str, list[str]] = {}
        for project_id, index_id in chosen.items():
            if self.indexes.is_whole(index_id) and index_id != self.indexes.active.record.id:
                by_index.setdefault(index_id, []).append(project_id)
        if not by_index:
            return [(self.indexes.active, ())]
        named = await self._named(request)
        parts: list[tuple[OpenIndex, tuple[Expression, ...]]] = []
        for index_id, projects in by_index.items():
            asked = tuple(one for one in projects if named is None or one in named)
            if asked:
                parts.append((self._open(index_id), (Condition("project", Operator.IN, asked),)))
        routed = tuple(one for projects in by_index.values() for one in projects)
        if named is None:
            parts.append((self.indexes.active, (Negation(Condition("project", Operator.IN, routed)),)))
        elif not set(named) <= set(routed):
            parts.append((self.indexes.active, ()))
        return parts

    async def _named(self, request: SearchRequest) -> tuple[str, ...] | None:
        """The projects a request is limited to; None for all."""
        named = request.scope.project_ids
        if request.projects is not None:
            resolved = await self.chunks.projects.resolve_all(request.owner_id, request.projects)
            named = resolved if named is None else tuple(one for one in resolved if one in named)
        return named

    def _over(self, parts: Sequence[tuple[OpenIndex, tuple[Expression, ...]]]) -> Retriever:
        first = parts[0][0]
        if len(parts) == 1:
            return self._retriever(first.record.id)
        return self._with_legs(first, SeveralLegs([self._source(index, conditions) for index, conditions in parts]))

    def _gradual(self) -> Retriever | None:
        move = self.indexes.gradual
        if move is None:
            return None
        before = self.indexes.active

        async def unmoved(ids: Sequence[str]) -> set[str]:
            return await self.chunks.content.after(move.moved_to, ids)

        return self._with_legs(before, MovingLegs(self._source(before), self._source(move.target), unmoved))

    def _source(self, index: OpenIndex, conditions: tuple[Expression, ...] = ()) -> SearchedIndex:
        name = f"{index.record.fingerprint} in {index.record.store}"
        return SearchedIndex(name, self._legs(index), conditions)

    def _legs(self, index: OpenIndex) -> Legs:
        return Legs(index.embedder, index.store, self.options, self.waiting)

    def _with_legs(self, index: OpenIndex, legs: Searching) -> Retriever:
        from citewell.retrieve.retriever import Retriever

        return Retriever(
            index.embedder, index.store, self.chunks, self.reranker, self.options, self.chat.model, legs=legs
        )

    def _open(self, index_id: str) -> OpenIndex:
        return self.indexes.named([index_id])[0]

    def _retriever(self, index_id: str | None = None) -> Retriever:
        index = self.indexes.active if index_id is None else self._open(index_id)
        key = index.record.id
        if key not in self._retrievers:
            self._retrievers[key] = self._with_legs(index, self._legs(index))
        return self._retrievers[key]


def _note(request: SearchRequest, found: SearchResult, seconds: float) -> None:
    """A log line for a search. It is ASCII JSON, so that no query can forge a line or move the cursor."""
    best = found.hits[0] if found.hits else None
    line = {
        "owner": request.owner_id,
        "query": request.query,
        "hits": len(found.hits),
        "best": best and {"filename": best.filename, "chunk_id": best.chunk.id, "score": round(best.score, 6)},
        "ms": round(seconds * 1_000, 1),
    }
    log.info("searched %s", json.dumps(line))
