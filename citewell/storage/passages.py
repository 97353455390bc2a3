"""The text of search results, from SQL. Chunks that have changed or been deleted since are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.storage.content import ContentRepository
from citewell.storage.projects import ProjectRepository
from citewell.types import ChunkPlace, ChunkType, SearchRequest, StoredChunk


@dataclass(frozen=True, slots=True)
class SqlChunks:
    """`ChunkSource` and `NeighbourSource` of `citewell.retrieve` over SQL."""

    content: ContentRepository
    projects: ProjectRepository

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """The chunks that exist and belong to the owner."""
        found = await self.content.load_chunks(owner_id, ids)
        return {chunk_id: StoredChunk(*item) for chunk_id, item in found.items()}

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        """The chunks at these places."""
        found = [StoredChunk(*item) for item in await self.content.chunks_at(owner_id, places)]
        return {ChunkPlace(one.chunk.resource_id, one.chunk.version, one.chunk.ordinal): one for one in found}

    async def passages(
        self, owner_id: str, resource_id: str, types: Sequence[ChunkType], most: int
    ) -> Sequence[StoredChunk]:
        """Chunks of these types of the owner's resource in order: all, or `most` spread evenly over it."""
        found = await self.content.passages(resource_id, types, most)
        mine = await self.content.load_chunks(owner_id, [chunk.id for chunk in found])
        return [StoredChunk(*mine[chunk.id]) for chunk in found if chunk.id in mine]

    async def resolve_scope(self, request: SearchRequest) -> tuple[str, ...] | None:
        """Resource ids that the request admits; None when it does not narrow. `NotFound` for an unknown project."""
        if request.project_id is None:
            return request.resource_ids
        project_id = await self.projects.resolve(request.owner_id, request.project_id)
        inside = await self.projects.resource_ids(request.owner_id, project_id)
        if request.resource_ids is None:
            return inside
        return tuple(set(inside) & set(request.resource_ids))
