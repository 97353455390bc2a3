"""How the command line talks to Citewell: over HTTP to the server that holds the data folder, or to one inside this process."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from citewell.errors import DataFolderBusy, from_code
from citewell.folder import DataFolder

if TYPE_CHECKING:
    import httpx

    from citewell.settings import Settings

_SECONDS, _CONNECT_SECONDS = 600.0, 5.0
_START_SECONDS = 15.0
"""How long a server that holds the folder may take to announce its address: two seconds at rest, several times that beside other work."""
_PAUSE_SECONDS = 0.1


Where: TypeAlias = "DataFolder | Settings"
"""The data folder to speak about: all that is needed while a server holds it; else with the settings to serve it with."""


@asynccontextmanager
async def connect(where: Where) -> AsyncGenerator[httpx.AsyncClient]:
    """A client with the local token. The same calls work in both cases, as there is one interface: the HTTP API.

    Of a folder alone the settings are loaded when no server holds it, and may raise `ConfigurationError`.
    Waits for a server that is just starting. Raises `DataFolderBusy` when a process that serves no HTTP keeps the folder.
    """
    import httpx  # here: a command that serves, or prints its help, does without

    folder = where if isinstance(where, DataFolder) else DataFolder(where.data)
    async with AsyncExitStack() as stack:
        url, transport = await _address(folder), None
        if url is None:
            try:
                transport = await _serve_here(where, stack)
            except DataFolderBusy:  # a server began to start after the look at the folder
                url = await _address(folder)
                if url is None:
                    raise
        client = httpx.AsyncClient(
            base_url=url or "http://citewell",
            transport=transport,
            headers={"Authorization": f"Bearer {folder.token()}"},
            timeout=httpx.Timeout(_SECONDS, connect=_CONNECT_SECONDS),
            verify=_no_certificates(),
        )
        await stack.enter_async_context(client)
        failure: Exception | None = None
        try:
            yield client
        except Exception as error:  # noqa: BLE001 - raised below: task groups within the server would wrap what is not theirs
            failure = error
    if failure is not None:
        raise failure


async def _address(folder: DataFolder) -> str | None:
    """Where the process that holds the folder can be reached; None when nobody holds it."""
    end = time.monotonic() + _START_SECONDS
    while (holder := folder.holder()) is not None:
        if holder.url is not None:
            return holder.url
        if time.monotonic() > end:
            raise DataFolderBusy(f"Process {holder.pid} is using {folder.path}. Try again when it has finished.")
        await asyncio.sleep(_PAUSE_SECONDS)
    return None


def _no_certificates() -> ssl.SSLContext:
    """A context that trusts nobody: the address is one of `http`, and reading the certificates of the world takes longer than most answers."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _serve_here(where: Where, stack: AsyncExitStack) -> httpx.AsyncBaseTransport:
    """Open a server inside this process, until the stack is closed."""
    # Imported here, for it takes seconds: what talks to a running server does without.
    import httpx

    from citewell.app import build
    from citewell.settings import change, load_settings

    settings = load_settings(data=where.path) if isinstance(where, DataFolder) else where
    app = build(change(settings, host="127.0.0.1"))
    await stack.enter_async_context(app.router.lifespan_context(app))
    return httpx.ASGITransport(app)


async def call(client: httpx.AsyncClient, method: str, path: str, **request: Any) -> Any:
    """The JSON answer of a call; raises the error that the server answered with."""
    response = await fetch(client, method, path, **request)
    return response.json() if response.content else None


async def fetch(client: httpx.AsyncClient, method: str, path: str, **request: Any) -> httpx.Response:
    """What a call was answered with; raises the error that the server answered with."""
    response = await client.request(method, path, **request)
    if response.is_success:
        return response
    try:
        error = response.json()["error"]
        raise from_code(error["code"], error["message"], error.get("details"))
    except (ValueError, KeyError, TypeError, AttributeError) as unreadable:
        raise from_code("http_error", response.text[:200], {"status": response.status_code}) from unreadable
