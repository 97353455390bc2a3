"""How a provider of vectors or scores fails: one fault per request, in order, then none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response


@dataclass(frozen=True, kw_only=True)
class Fault:
    """status, retry_after, message: an HTTP error. body: this answer, with status 200. pause: seconds before anything else."""

    status: int = 200
    message: str = "scripted"
    retry_after: str | None = None
    body: bytes | None = None
    pause: float = 0.0


Trouble = Callable[[], Fault | None]


class Faults:
    """Faults in order, None for a request that is answered, then none."""

    def __init__(self, *faults: Fault | None) -> None:
        self._faults = list(faults)

    def __call__(self) -> Fault | None:
        return self._faults.pop(0) if self._faults else None


async def answer(fault: Fault | None, shape: Callable[[int, str], object]) -> Response | None:
    """The response of a fault in the vendor's `shape` of an error; None for a request that is to be answered."""
    if fault is None:
        return None
    await asyncio.sleep(fault.pause)
    if fault.body is not None:
        return Response(fault.body, media_type="application/json")
    if fault.status == 200:
        return None
    headers = {"retry-after": fault.retry_after} if fault.retry_after else {}
    return JSONResponse(shape(fault.status, fault.message), fault.status, headers)
