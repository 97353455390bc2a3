"""Limits the number of requests per second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


class Pace:
    """At most one request every `1 / per_second` seconds; `await pace()` before each."""

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._between = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    async def __call__(self) -> None:
        """Wait for this request's turn."""
        now = self._clock()
        turn = max(now, self._next)
        self._next = turn + self._between
        if turn > now:
            await self._sleep(turn - now)
