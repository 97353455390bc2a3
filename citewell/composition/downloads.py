"""Addresses that a source's records name: opened only where they lead out of the network, or to the server that the operator has set."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from citewell.adapters.webhook.guarded import GuardedSender
from citewell.errors import InvalidInput, SourceProblem


@asynccontextmanager
async def opened(
    url: str, *, known: str, seconds: float, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[httpx.Response]:
    """The answer of an address, to be read while the block runs. known: the server whose records name it; seconds: for each part.

    Raises `SourceProblem` for an address that may not be opened, `Unavailable` and `httpx.HTTPError` where it cannot be.
    """
    is_known = url.startswith(f"{known.rstrip('/')}/")
    if not is_known and url.startswith("https://") and _by_proxy(url):  # which looks the name up itself
        async with (
            httpx.AsyncClient(timeout=seconds, follow_redirects=False) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            yield response
        return
    try:
        async with GuardedSender(private=is_known, seconds=seconds).opened(url, headers) as response:
            yield response
    except InvalidInput as error:
        raise SourceProblem("The file's address is not a public one with https, and was not opened.") from error


def _by_proxy(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    proxies = getproxies()
    return ("https" in proxies or "all" in proxies) and not proxy_bypass(host)
