"""Where retrieval gets the text of what it found: a port of its own, filled by storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citewell.types import SearchRequest, StoredChunk


class ChunkSource(Protocol):
    """The truth behind the index. Everything it returns belongs to the owner that was asked for."""

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """Those of the chunks that exist, are current and are the owner's, by id; others are left out."""
        ...

    async def resolve_scope(self, request: SearchRequest) -> tuple[str, ...] | None:
        """The resources that the request's project and resource ids admit; None when they do not narrow."""
        ...
