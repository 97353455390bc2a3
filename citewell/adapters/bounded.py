"""Bounds what the clients of vendors' packages read of an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

from citewell.adapters.http import MAX_ANSWER_BYTES


class BoundedStream(httpx2.AsyncByteStream):
    """The bytes of an answer. `httpx2.ReadError` once there are too many."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for part in self._stream:
            seen += len(part)
            if seen > MAX_ANSWER_BYTES:
                raise httpx2.ReadError(f"The answer has more than {MAX_ANSWER_BYTES:,} bytes.")
            yield part

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = BoundedStream(response.stream)


BOUNDED: dict[str, list[Callable[[httpx2.Response], Awaitable[None]]]] = {"response": [_bound]}
"""The `event_hooks` of a client whose answers are bounded."""
