"""Measures the write rate, to tell whether search graphs built now would be outdated as soon as they are done."""

from __future__ import annotations

import time
from collections import deque

# Seconds over which the rate is measured; a pause this long ends a burst of writes.
WINDOW = 2.0
# Building graphs takes 0.25 to 0.35 ms of CPU per point (200,000 and 1,000,000 points of 384 dimensions).
_SECONDS_PER_POINT = 0.0003
# Points without a graph are scanned one by one, about 5 ms per 100,000; beyond this number, graphs are built at once.
_MAX_WAITING = 1_000_000


class WritePace:
    """Counts the points written in the last two seconds. Use from the event loop only."""

    def __init__(self) -> None:
        self._written: deque[tuple[float, int]] = deque()

    def note(self, points: int) -> None:
        """Record that `points` points were just written."""
        self._written.append((time.monotonic(), points))

    def per_second(self) -> float:
        """Points written per second, over the last two seconds."""
        since = time.monotonic() - WINDOW
        while self._written and self._written[0][0] < since:
            self._written.popleft()
        return sum(points for _, points in self._written) / WINDOW

    def overtakes(self, waiting: int, points: int) -> bool:
        """Whether more than the `waiting` points would be written while graphs of all `points` are built.

        Such graphs would have to be rebuilt at once: with them, filling an index of a million points took twice as long.
        """
        return waiting < _MAX_WAITING and self.per_second() * _SECONDS_PER_POINT * points > waiting
