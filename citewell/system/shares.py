"""Per-owner concurrency limits for expensive work, so that no owner holds up the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from citewell.errors import RateLimited

_RETRY_SECONDS = 5.0  # suggested wait for a refused request; when the current work will end is unknown


@dataclass(slots=True)
class _Owner:
    """An owner's unfinished tasks, running and waiting, and the semaphore for their turns."""

    turns: asyncio.Semaphore
    asked: int = 0


class Shares:
    """Concurrency limits for one kind of task in this process. Tasks wait on the event loop and occupy no thread.

    work:       name of the tasks, in the plural, for the error message
    each:       running tasks per owner
    waiting:    queued tasks per owner; further ones are refused
    altogether: running tasks of all owners; None for no limit
    """

    def __init__(self, work: str, *, each: int, waiting: int = 0, altogether: int | None = None) -> None:
        self._work = work
        self._each = each
        self._most = each + waiting
        self._all = nullcontext() if altogether is None else asyncio.Semaphore(altogether)
        self._owners: dict[str, _Owner] = {}

    def running(self, owner_id: str) -> int:
        """The owner's unfinished tasks, running and waiting."""
        owner = self._owners.get(owner_id)
        return 0 if owner is None else owner.asked

    @asynccontextmanager
    async def hold(self, owner_id: str) -> AsyncGenerator[None]:
        """Runs one task in this block. Raises `RateLimited` if the owner has too many running and queued."""
        owner = self._owners.setdefault(owner_id, _Owner(asyncio.Semaphore(self._each)))
        if owner.asked >= self._most:
            raise RateLimited(
                f"You have {owner.asked} {self._work} in progress, the maximum. Try again when one has finished.",
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
