"""Whether a person's earlier conversations are searched, and the search itself."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.errors import Conflict, EmptyQuery
from citewell.retrieve.conversations import ConversationSearch, FoundExchange, Recollection
from citewell.storage.conversations.memory import MemoryRepository

MIN_NEAR = 0.3
"""Cosine from which an exchange without any of the words is shown."""


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Whether earlier conversations are searched, and how many exchanges there are."""

    enabled: bool
    exchanges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryService:
    """Off for everybody until they turn it on. later: runs work in the background."""

    repository: MemoryRepository
    conversations: ConversationSearch
    later: Callable[[Coroutine[Any, Any, object]], None]

    async def state(self, owner_id: str) -> MemoryState:
        """Whether it is on, and what it would search."""
        exchanges = await self.repository.exchanges(owner_id)
        return MemoryState(await self.repository.is_on(owner_id), len(exchanges))

    async def switch(self, owner_id: str, on: bool) -> MemoryState:
        """Turn it on or off."""
        await self.repository.switch(owner_id, on)
        if on:
            self.later(self.conversations.index(owner_id))
        return await self.state(owner_id)

    async def search(self, owner_id: str, query: str, limit: int) -> Sequence[FoundExchange]:
        """The exchanges about something, the best first. Raises `Conflict` while it is off."""
        if not query.strip():
            raise EmptyQuery
        if not await self.repository.is_on(owner_id):
            raise Conflict("Earlier conversations are not searched. Turn it on first: `PUT /memory`.")
        found = await self.conversations.search(Recollection(owner_id=owner_id, query=query), limit)
        return [one for one in found if one.covered or (one.near or 0.0) >= MIN_NEAR]
