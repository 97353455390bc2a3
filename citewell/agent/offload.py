"""Keeps the event loop free: work on long texts runs in a thread, short work at once, as a thread costs more than it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

# Characters that the slowest of such work reads in about ten milliseconds.
_AT_ONCE = 4_000

_P = ParamSpec("_P")
_R = TypeVar("_R")


async def offload(characters: int, work: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """What `work` returns; it reads `characters` characters, and changes nothing that others see meanwhile."""
    if characters <= _AT_ONCE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
