"""Limits the response size in clients of vendor packages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress

import httpx2

from citewell.adapters.http import MAX_ANSWER_BYTES


class BoundedStream(httpx2.AsyncByteStream):
    """The bytes of a response; raises `httpx2.ReadError` beyond `MAX_ANSWER_BYTES`.

    Deliberately not a generator, and closes the one it reads from: otherwise, a client that leaves a response unread
    would leave the generator to the garbage collector, which may run in any thread.
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
            raise httpx2.ReadError(f"The response exceeds {MAX_ANSWER_BYTES:,} bytes.")
        return part

    async def aclose(self) -> None:
        """Close the connection or return it to the pool."""
        if isinstance(self._parts, AsyncGenerator):
            with suppress(RuntimeError):  # another task is reading it and will close it
                await self._parts.aclose()
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = BoundedStream(response.stream)


BOUNDED: dict[str, list[Callable[[httpx2.Response], Awaitable[None]]]] = {"response": [_bound]}
"""`event_hooks` that limit the response size of a client."""
