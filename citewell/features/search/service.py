"""Searching: whatever index is active answers, and SQL has the last word on what an owner may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from citewell.errors import InvalidInput, NotFound
from citewell.indexes.index_set import IndexSet
from citewell.ports import ChatModel, Reranker, close_connections
from citewell.retrieve.context import passages_around
from citewell.retrieve.retriever import RetrievalOptions, Retriever
from citewell.storage.passages import SqlChunks
from citewell.types import SearchRequest, SearchResult

MAX_HITS = 100
MAX_NEIGHBOURS = 10
MAX_QUERY_CHARACTERS = 8_000


@dataclass(slots=True)
class ChatSlot:
    """The chat model that searches ask at present; None where there is none."""

    model: ChatModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchService:
    """Searches in the active index; after a switch, in the new one. top_k: hits where a request does not say how many."""

    indexes: IndexSet
    chunks: SqlChunks
    options: RetrievalOptions
    reranker: Reranker | None = None
    chat: ChatSlot = field(default_factory=ChatSlot)
    top_k: int = 10
    _retrievers: dict[str, Retriever] = field(default_factory=dict[str, Retriever])

    @property
    def notice(self) -> str | None:
        """What readers of results must know: that the index is being rebuilt, and not everything is found yet."""
        return self.indexes.notice

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits of `request.owner_id` only, best first; raises `InvalidInput` for a query or a number out of bounds."""
        if not 1 <= request.top_k <= MAX_HITS:
            raise InvalidInput(f"`top_k` must be from 1 to {MAX_HITS}.")
        if len(request.query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(f"The query is longer than {MAX_QUERY_CHARACTERS:,} characters.")
        if not 0 <= request.neighbours <= MAX_NEIGHBOURS:
            raise InvalidInput(f"`neighbours` must be from 0 to {MAX_NEIGHBOURS}.")
        found = await self._retriever().search(request)
        if not request.neighbours:
            return found
        around = request.neighbours
        passages = await passages_around(request.owner_id, found.hits, self.chunks, around, around)
        return replace(found, passages=tuple(passages))

    async def holds_any(self, owner_id: str, words: Sequence[str]) -> bool:
        """Whether a chunk of the owner has one of these words, in the active index."""
        return await self._retriever().holds_any(owner_id, words)

    async def search_in(self, index_id: str, request: SearchRequest) -> SearchResult:
        """The same search in a given open index, active or not: for comparing models."""
        return await self._retriever(index_id).search(request)

    async def close(self) -> None:
        """Close the connections of the reranker, if it has any."""
        await close_connections(self.reranker)

    def use_chat(self, model: ChatModel | None) -> None:
        """Ask this chat model from the next search on, or none."""
        self.chat.model = model
        self._retrievers.clear()

    def _retriever(self, index_id: str | None = None) -> Retriever:
        index = self.indexes.active if index_id is None else self.indexes.find(index_id)
        if index is None:
            raise NotFound("There is no such open index.")
        key = index.record.id
        if key not in self._retrievers:
            self._retrievers[key] = Retriever(
                index.embedder, index.store, self.chunks, self.reranker, self.options, self.chat.model
            )
        return self._retrievers[key]
