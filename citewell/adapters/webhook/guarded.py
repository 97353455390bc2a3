"""Sends to or reads from a user-supplied URL, protected against SSRF.

The name is resolved once, every address is checked, a checked one is connected to, and redirects are not followed.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from citewell.adapters.webhook.addresses import may_be_called, reached
from citewell.errors import InvalidInput, Unavailable
from citewell.types import Acknowledgement

if TYPE_CHECKING:
    import httpx

SECONDS = 15.0
"""Timeout of a whole delivery, from name resolution to the end of the response."""
MAX_ADDRESSES = 4
"""Maximum number of addresses tried per host name."""
MAX_BYTES = 256 * 1024
"""Maximum size of a response body that is read, decompressed."""
T = TypeVar("T")
# httpx is imported only when sending, which most servers never do.
Reader: TypeAlias = "Callable[[httpx.Response], Awaitable[T]]"
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]


class GuardedSender:
    """Sends webhooks. private: also allow addresses of this machine and its networks, and plain HTTP."""

    def __init__(self, *, private: bool, seconds: float = SECONDS, resolve: Resolver | None = None) -> None:
        self._private = private
        self._seconds = seconds
        self._resolve = resolve or _look_up

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Acknowledgement:
        """Post a body and return the receiver's acknowledgement; the response body is not read.

        Raises `InvalidInput` for a forbidden address, `Unavailable` if there is no response in time.
        """
        return await self._in_time("POST", url, headers, body, _acknowledged)

    async def exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """The status and body of the response, of up to `MAX_BYTES`. Raises as `post`."""
        return await self._in_time(method, url, headers, body, _whole)

    @asynccontextmanager
    async def opened(self, url: str, headers: Mapping[str, str] | None = None) -> AsyncGenerator[httpx.Response]:
        """GET a URL and read the response inside the block, with a timeout of `seconds` for each part.

        Raises as `post`.
        """
        async with AsyncExitStack() as stack:
            yield await self._answer(stack, "GET", _url(url, private=self._private), headers or {}, b"")

    async def _in_time(self, method: str, url: str, headers: Mapping[str, str], body: bytes, read: Reader[T]) -> T:
        import httpx

        try:
            async with asyncio.timeout(self._seconds), AsyncExitStack() as stack:
                return await read(await self._answer(stack, method, _url(url, private=self._private), headers, body))
        except TimeoutError as error:
            raise Unavailable(f"The receiver did not respond within {self._seconds:g} seconds.") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"The receiver cannot be reached: {_reason(error)}.") from error

    async def _answer(
        self, stack: AsyncExitStack, method: str, url: httpx.URL, headers: Mapping[str, str], body: bytes
    ) -> httpx.Response:
        """The response, before its body, of the host's first reachable address."""
        import httpx

        problem: Exception | None = None
        for address in await self._addresses(url):
            try:
                return await stack.enter_async_context(self._sent(method, url, address, headers, body))
            except httpx.ConnectError as error:  # the host's next address may respond
                problem = error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise Unavailable(f"The receiver cannot be reached: {_reason(error)}.") from error
        raise Unavailable(f"The receiver cannot be reached: {_reason(problem)}.")

    async def _addresses(self, url: httpx.URL) -> Sequence[str]:
        """The host's addresses; the host is rejected if any of them may not be called."""
        try:
            found = await self._resolve(url.host, url.port or _port(url))
        except (OSError, UnicodeError) as error:  # an empty or overlong label
            raise Unavailable(f"The name {url.host!r} cannot be resolved.") from error
        for address in found:
            if not may_be_called(reached(address), private=self._private):
                # Does not name the address: owners read this and could map the internal network.
                raise InvalidInput(
                    f"{url.host!r} resolves to an internal address, which webhooks may not call. "
                    "Use a public address, or set CITEWELL_WEBHOOK_PRIVATE_ADDRESSES."
                )
        return list(found)[:MAX_ADDRESSES]

    @asynccontextmanager
    async def _sent(
        self, method: str, url: httpx.URL, address: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncGenerator[httpx.Response]:
        import httpx

        # Connecting to the address avoids a second lookup with another result; the certificate is checked by name.
        dialled = url.copy_with(host=address)
        host = url.netloc.decode("ascii")
        extensions = {"sni_hostname": url.raw_host.decode("ascii")} if url.scheme == "https" else {}
        async with (
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=self._seconds) as client,
            client.stream(
                method, dialled, headers={**headers, "host": host}, content=body, extensions=extensions
            ) as response,
        ):
            yield response


async def _acknowledged(response: httpx.Response) -> Acknowledgement:
    return Acknowledgement(response.status_code, _wait(response.headers.get("retry-after")))


async def _whole(response: httpx.Response) -> tuple[int, bytes]:
    body = b""
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BYTES:
            raise Unavailable(f"The response exceeds {MAX_BYTES:,} bytes.")
    return response.status_code, body


async def _look_up(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _url(text: str, *, private: bool) -> httpx.URL:
    import httpx

    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise InvalidInput("The webhook's address is not a URL.") from error
    if url.scheme != "https" and not (private and url.scheme == "http"):
        raise InvalidInput("The webhook's address must begin with https://.")
    if not url.host or url.userinfo:
        raise InvalidInput("The webhook's address must contain a host, but no user or password.")
    return url


def _port(url: httpx.URL) -> int:
    return 443 if url.scheme == "https" else 80


def _reason(error: Exception | None) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text or type(error).__name__


def _wait(value: str | None) -> float | None:
    """Seconds to wait, from a `Retry-After` header (a number or a date)."""
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
