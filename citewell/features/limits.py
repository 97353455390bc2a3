"""Rate limits, counted in the database for all servers together."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from citewell.errors import RateLimited

_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class Refusals:
    """Remembers who is refused until when, in this process, so that their further requests cause no writes."""

    _until: dict[str, float] = field(default_factory=dict[str, float])

    async def admit(self, name: str, most: int, count: Callable[[str], Awaitable[tuple[int, float]]]) -> None:
        """Raise `RateLimited` beyond `most` within a span. count: adds one, and returns the total and the seconds left."""
        if (left := self._until.get(name, 0.0) - time.monotonic()) > 0:
            raise RateLimited(retry_after=left)
        counted, left = await count(name)
        if counted > most:
            if len(self._until) >= _REMEMBERED:
                self._until.clear()
            self._until[name] = time.monotonic() + left
            raise RateLimited(retry_after=left)
