"""Calls a provider's HTTP API without the vendor's package: JSON in and out, a `Provider…` error for every failure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import httpx

from citewell.adapters.chat.errors import connection_failed, from_status
from citewell.errors import ProviderUnavailable

SECONDS = 60.0
"""Timeout until a response begins, and between its parts."""
WHOLE_SECONDS = 110.0
"""Timeout of a whole request; otherwise a trickling response would block it, and the file waiting for it, forever."""
MAX_ANSWER_BYTES = 128 * 1024 * 1024
"""Maximum size of a response, so that an endless one cannot fill the memory.

The largest real one, 2,048 vectors of 3,072 numbers, takes a quarter.
"""
_MAX_MESSAGE = 500


class ProviderHttp:
    """An HTTP client for one provider's address and headers. Does not retry.

    Each event loop has its own connection pool, opened by its first request.
    """

    def __init__(self, address: str, headers: Mapping[str, str], seconds: float | None = None) -> None:
        """seconds: timeout of a request; default `SECONDS` per part of the response and `WHOLE_SECONDS` in total."""
        self._address = address.rstrip("/")
        self._headers = dict(headers)
        self._seconds = SECONDS if seconds is None else seconds
        self._whole = WHOLE_SECONDS if seconds is None else seconds
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Post a JSON object and return the one in the response. Raises a `Provider…` error for any failure."""
        value = await self.post_any(path, body)
        if not isinstance(value, dict):
            raise malformed("it is not a JSON object")
        return value

    async def post_any(self, path: str, body: Mapping[str, Any]) -> Any:
        """As `post`, for a response of any JSON type."""
        try:
            async with (
                asyncio.timeout(self._whole),
                self._client().stream("POST", f"{self._address}{path}", content=_dumps(body)) as response,
            ):
                said = await _read(response)
        except TimeoutError:
            raise too_slow(self._whole) from None
        except httpx.HTTPError as error:
            raise connection_failed(error) from error
        if not response.is_success:
            raise from_status(response.status_code, _words(said), response.headers)
        return _value(said)

    async def close(self) -> None:
        """Close this event loop's connections; the next request opens others."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            headers = {"content-type": "application/json", **self._headers}
            client = self._clients[loop] = httpx.AsyncClient(headers=headers, timeout=self._seconds)
        return client


def malformed(what: str) -> ProviderUnavailable:
    """The error for a response that differs from the provider's documentation."""
    return ProviderUnavailable(f"The provider's response is malformed: {what}.")


def too_slow(seconds: float) -> ProviderUnavailable:
    """The error for a response that did not end in time."""
    return ProviderUnavailable(f"The provider did not respond within {seconds:g} s.")


def _dumps(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


async def _read(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise malformed(f"it has more than {MAX_ANSWER_BYTES:,} bytes")
    return bytes(body)


def _value(said: bytes) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        raise malformed("it is not JSON") from None


def _words(said: bytes) -> str:
    """The provider's error message, from wherever the body holds it."""
    try:
        body = json.loads(said)
    except ValueError:
        return said[:_MAX_MESSAGE].decode("utf-8", "replace")
    for name in ("error", "detail", "message"):
        if isinstance(body, dict) and name in body:
            body = body[name]
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)[:_MAX_MESSAGE]
