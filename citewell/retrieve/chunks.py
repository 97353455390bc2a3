"""The port through which retrieval loads the texts of hits; storage implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citewell.types import Filter, MetadataKey, SearchRequest, StoredChunk


class ChunkSource(Protocol):
    """The source of truth behind the index. Everything it returns belongs to the given owner."""

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """The owner's existing, current chunks by id, without any others."""
        ...

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        """The resources that the request's scope, projects and resource ids select, and the corpus that its projects make."""
        ...

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """The metadata keys of the owner's files (or of these), at most `seconds` old."""
        ...

    async def keys_within(
        self, owner_id: str, project_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """The same for the owner's files in these projects; None for all."""
        ...
