"""Timing of steps, written into a trace."""

from __future__ import annotations

import time
from types import TracebackType

from citewell.system.tracing import span
from citewell.types import Trace


class timed:  # noqa: N801 - read as a verb: `with timed(trace, "load"):`
    """Add the milliseconds that the block takes to `step` of the trace, and make it a span."""

    __slots__ = ("_span", "_started", "_step", "_timings")

    def __init__(self, trace: Trace, step: str) -> None:
        self._timings = trace.timings_ms
        self._step = step
        self._span = span(f"retrieve {step}")

    def __enter__(self) -> None:
        self._span.__enter__()
        self._started = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        spent = (time.perf_counter() - self._started) * 1000
        self._timings[self._step] = round(self._timings.get(self._step, 0.0) + spent, 3)
        self._span.__exit__(kind, error, traceback)
