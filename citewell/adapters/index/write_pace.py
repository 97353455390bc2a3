"""How fast points are written, and whether search graphs built meanwhile would be out of date as soon as they are done."""

from __future__ import annotations

import time
from collections import deque

# The rate is that of the last two seconds: a pause of so long ends a burst of writes.
WINDOW = 2.0
# Building graphs takes 0.25 to 0.35 ms of CPU for each point there is (200,000 and 1,000,000 points of 384 dimensions).
_SECONDS_PER_POINT = 0.0003
# Points without a graph are looked through one by one, some 5 ms for 100,000: more than this do not wait for a pause.
_MAX_WAITING = 1_000_000


class WritePace:
    """What was written in the last two seconds. Used from the event loop only."""

    def __init__(self) -> None:
        self._written: deque[tuple[float, int]] = deque()

    def note(self, points: int) -> None:
        """So many points were written just now."""
        self._written.append((time.monotonic(), points))

    def per_second(self) -> float:
        """Points written per second, over the last two."""
        since = time.monotonic() - WINDOW
        while self._written and self._written[0][0] < since:
            self._written.popleft()
        return sum(points for _, points in self._written) / WINDOW

    def overtakes(self, waiting: int, points: int) -> bool:
        """Whether more points would be written while graphs of all `points` are built than the `waiting` ones that would gain one.

        Graphs begun then are built again right afterwards: filling an index with a million points at once took twice as long
        with them as without.
        """
        return waiting < _MAX_WAITING and self.per_second() * _SECONDS_PER_POINT * points > waiting
