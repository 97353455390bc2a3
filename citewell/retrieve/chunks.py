"""The port through which retrieval loads the texts of hits; storage implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citewell.types import Filter, MetadataKey, SearchRequest, StoredChunk


class ChunkSource(Protocol):
    """The source of truth behind the index. Everything it returns belongs to the given owner."""

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """The chunks with these ids that are current and belong to the owner, by id."""
        ...

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        """The filter for a request: the resources that its scope, projects and ids select, and the corpus of its projects."""
        ...

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """The metadata keys of the owner's files (or of these), at most `seconds` old."""
        ...

    async def keys_within(
        self, owner_id: str, project_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """Like `metadata_keys`, for the owner's files in these projects; None for all."""
        ...
