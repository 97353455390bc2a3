"""The port through which retrieval loads the text of what it found; storage implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citewell.types import Filter, MetadataKey, SearchRequest, StoredChunk


class ChunkSource(Protocol):
    """The source of truth behind the index. Everything it returns belongs to the given owner."""

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """The chunks that exist, are current and belong to the owner, by id; others are left out."""
        ...

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        """The resources that the request's scope, projects and resource ids select, and the corpus that its projects make."""
        ...

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """The metadata keys of the owner's files (of these), as they were at most so many seconds ago."""
        ...

    async def keys_within(
        self, owner_id: str, project_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """The same of the owner's files in these projects; None for all."""
        ...
