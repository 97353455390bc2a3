"""Searching: whatever index is active answers, and SQL has the last word on what an owner may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from citewell.errors import InvalidInput, NotFound
from citewell.ingest.indexes import IndexSet
from citewell.ports import ChatModel, Reranker
from citewell.retrieve.chunks import StoredChunk
from citewell.retrieve.context import Place, passages_around
from citewell.retrieve.retriever import RetrievalOptions, Retriever
from citewell.storage.content import ContentRepository
from citewell.storage.projects import ProjectRepository
from citewell.types import SearchRequest, SearchResult

MOST_HITS = 100
MOST_NEIGHBOURS = 10
MOST_QUERY_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class SqlChunks:
    """`ChunkSource` and `NeighbourSource` of `citewell.retrieve` over SQL."""

    content: ContentRepository
    projects: ProjectRepository

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """Those chunks that exist and are the owner's."""
        found = await self.content.load_chunks(owner_id, ids)
        return {chunk_id: StoredChunk(*item) for chunk_id, item in found.items()}

    async def at(self, owner_id: str, places: Sequence[Place]) -> Mapping[Place, StoredChunk]:
        """The chunks that stand at these places."""
        found = [StoredChunk(*item) for item in await self.content.chunks_at(owner_id, places)]
        return {Place(one.chunk.resource_id, one.chunk.version, one.chunk.ordinal): one for one in found}

    async def resolve_scope(self, request: SearchRequest) -> tuple[str, ...] | None:
        """Resource ids that the request admits; None when it does not narrow. `NotFound` for an unknown project."""
        if request.project_id is None:
            return request.resource_ids
        project_id = await self.projects.resolve(request.owner_id, request.project_id)
        inside = await self.projects.resource_ids(request.owner_id, project_id)
        if request.resource_ids is None:
            return inside
        return tuple(set(inside) & set(request.resource_ids))


@dataclass(slots=True)
class SearchService:
    """Searches in the active index; after a switch, in the new one. top_k: hits where a request does not say how many."""

    indexes: IndexSet
    chunks: SqlChunks
    options: RetrievalOptions
    reranker: Reranker | None = None
    chat: ChatModel | None = None
    top_k: int = 10
    _retrievers: dict[str, Retriever] = field(default_factory=dict[str, Retriever])

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits of `request.owner_id` only, best first; raises `InvalidInput` for a query or a number out of bounds."""
        if not 1 <= request.top_k <= MOST_HITS:
            raise InvalidInput(f"`top_k` must be from 1 to {MOST_HITS}.")
        if len(request.query) > MOST_QUERY_CHARACTERS:
            raise InvalidInput(f"The query is longer than {MOST_QUERY_CHARACTERS:,} characters.")
        if not 0 <= request.neighbours <= MOST_NEIGHBOURS:
            raise InvalidInput(f"`neighbours` must be from 0 to {MOST_NEIGHBOURS}.")
        found = await self._retriever().search(request)
        if not request.neighbours:
            return found
        around = request.neighbours
        passages = await passages_around(request.owner_id, found.hits, self.chunks, around, around)
        return replace(found, passages=tuple(passages))

    async def search_in(self, index_id: str, request: SearchRequest) -> SearchResult:
        """The same search in a given open index, active or not: for comparing models."""
        return await self._retriever(index_id).search(request)

    def _retriever(self, index_id: str | None = None) -> Retriever:
        index = self.indexes.active if index_id is None else self.indexes.find(index_id)
        if index is None:
            raise NotFound("There is no such open index.")
        key = index.record.id
        if key not in self._retrievers:
            self._retrievers[key] = Retriever(
                index.embedder, index.store, self.chunks, self.reranker, self.options, self.chat
            )
        return self._retrievers[key]
