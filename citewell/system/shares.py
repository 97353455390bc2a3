"""How much costly work of one kind an owner may do at once, so that no owner holds up all the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from citewell.errors import RateLimited

_RETRY_SECONDS = 5.0  # what a refused request should wait; nobody knows when the work under way will end


@dataclass(slots=True)
class _Owner:
    """How many pieces of work an owner has asked for that have not ended, and the turns that they take."""

    turns: asyncio.Semaphore
    asked: int = 0


class Shares:
    """Limits on work of one kind in this process. Those who wait do so on the event loop, where they take no thread from other work.

    work:       the kind, in the plural, as the error names it
    each:       pieces of work that one owner does at once
    waiting:    further pieces of one owner that wait for these, in order; the next one is refused
    altogether: pieces of work that all owners together do at once; None for no limit
    """

    def __init__(self, work: str, *, each: int, waiting: int = 0, altogether: int | None = None) -> None:
        self._work = work
        self._each = each
        self._most = each + waiting
        self._all = nullcontext() if altogether is None else asyncio.Semaphore(altogether)
        self._owners: dict[str, _Owner] = {}

    @asynccontextmanager
    async def hold(self, owner_id: str) -> AsyncGenerator[None]:
        """Do one piece of work in this block. Raises `RateLimited` for an owner with too many under way already."""
        owner = self._owners.setdefault(owner_id, _Owner(asyncio.Semaphore(self._each)))
        if owner.asked >= self._most:
            raise RateLimited(
                f"You have {owner.asked} {self._work} under way, the most there may be. Try again when one has ended.",
                _RETRY_SECONDS,
            )
        owner.asked += 1
        try:
            async with owner.turns, self._all:
                yield
        finally:
            owner.asked -= 1
            if not owner.asked:
                del self._owners[owner_id]
