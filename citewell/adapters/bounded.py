"""Bounds what the clients of vendors' packages read of an answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress

import httpx2

from citewell.adapters.http import MAX_ANSWER_BYTES


class BoundedStream(httpx2.AsyncByteStream):
    """The bytes of an answer. `httpx2.ReadError` once there are too many.

    No generator, and it closes the one that it reads from: a client that leaves an answer unread would leave either to the garbage
    collector, in whichever thread that runs.
    """

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._parts = aiter(stream)
        self._seen = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        part = await anext(self._parts)
        self._seen += len(part)
        if self._seen > MAX_ANSWER_BYTES:
            raise httpx2.ReadError(f"The answer has more than {MAX_ANSWER_BYTES:,} bytes.")
        return part

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        if isinstance(self._parts, AsyncGenerator):
            with suppress(RuntimeError):  # it is being read by another task, which ends it
                await self._parts.aclose()
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = BoundedStream(response.stream)


BOUNDED: dict[str, list[Callable[[httpx2.Response], Awaitable[None]]]] = {"response": [_bound]}
"""The `event_hooks` of a client whose answers are bounded."""
