"""Timing of steps, written into a trace."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from citewell.types import Trace


@contextmanager
def timed(trace: Trace, step: str) -> Generator[None]:
    """Add the milliseconds that the block takes to `step` of the trace."""
    start = time.perf_counter()
    try:
        yield
    finally:
        spent = (time.perf_counter() - start) * 1000
        trace.timings_ms[step] = round(trace.timings_ms.get(step, 0.0) + spent, 3)
