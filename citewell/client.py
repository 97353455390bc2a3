"""The command line's client: HTTP to the server that holds the data folder, or to one started inside this process."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from citewell.errors import CitewellError, DataFolderBusy, from_code
from citewell.system.deferred_models import defer_model_build
from citewell.system.folder import DataFolder

if TYPE_CHECKING:
    import ssl

    import httpx

    from citewell.settings import Settings
    from citewell.types.json import JsonObject

T = TypeVar("T")
_SECONDS, _CONNECT_SECONDS = 600.0, 5.0
_START_SECONDS = 15.0
"""How long a starting server may take to announce its address: two seconds on an idle machine, several times that on a busy one."""
_PAUSE_SECONDS = 0.1
_NOT_YET = ""
_IN_ADDRESSES = "/?%:@!$&'()*+,;="
"""Characters, besides letters and digits, that a URL path keeps unescaped."""

Where: TypeAlias = "DataFolder | Settings"
"""The data folder, which suffices while a server holds it, or the settings to serve it with."""


class SilentServer(Exception):
    """The server that holds the data folder is not responding."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work and return its result. Raises `SilentServer` if a server does not respond."""
    import asyncio

    import httpx

    try:
        return asyncio.run(work)
    except httpx.TransportError as error:
        raise SilentServer(str(error)) from error


def request_json(
    where: Where, method: str, path: str, *, json: JsonObject | None = None, params: Mapping[str, object] | None = None
) -> Any:
    """The JSON response to one request, from the server that holds the data folder or one in this process.

    A running server is called with the standard library alone, because asyncio and httpx, which `connect` needs, take longer to
    load than most responses. Raises the server's error, `SilentServer`, and whatever `connect` raises.
    """
    folder = _folder_of(where)
    target = quote(path, safe=_IN_ADDRESSES) + (f"?{urlencode(params)}" if params else "")
    url = _address(folder)
    if url is None:
        return run(_request_here(where, method, target, json))
    return _exchange(url, folder.token(), method, target, json)


async def _request_here(where: Where, method: str, target: str, body: JsonObject | None) -> Any:
    async with connect(where) as client:
        return await call(client, method, target, json=body)


def _exchange(url: str, token: str, method: str, target: str, body: JsonObject | None) -> Any:
    """The response of the server at this address. It is on this machine, so proxies are bypassed."""
    import http.client  # imported here: commands that print help or serve make no request

    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    server = urlsplit(url)
    connection = http.client.HTTPConnection(server.hostname or "", server.port, timeout=_CONNECT_SECONDS)
    try:
        with closing(connection):
            connection.connect()
            connection.sock.settimeout(_SECONDS)
            connection.request(method, target, None if body is None else json.dumps(body).encode(), headers)
            response = connection.getresponse()
            content = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise SilentServer(str(error)) from error
    if response.status // 100 != 2:
        raise _error_of(response.status, content)
    return json.loads(content) if content else None


@asynccontextmanager
async def connect(where: Where) -> AsyncGenerator[httpx.AsyncClient]:
    """A client with the local token. The same calls work in both cases, since both speak the HTTP API.

    Given only a folder that no server holds, it loads the settings, which may raise `ConfigurationError`.
    Waits for a server that is just starting. Raises `DataFolderBusy` if a process that serves no HTTP holds the folder.
    """
    import httpx  # here, like asyncio elsewhere: a command that makes one request does not need it

    folder = _folder_of(where)
    async with AsyncExitStack() as stack:
        url, transport = await _address_in_turn(folder), None
        if url is None:
            try:
                transport = await _serve_here(where, stack)
            except DataFolderBusy:  # a server started after the folder was checked
                url = await _address_in_turn(folder)
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
        except Exception as error:  # noqa: BLE001 - raised below: task groups within the server would wrap the caller's error
            failure = error
    if failure is not None:
        raise failure


def _folder_of(where: Where) -> DataFolder:
    return where if isinstance(where, DataFolder) else DataFolder(where.data)


def _address(folder: DataFolder) -> str | None:
    """The address of the process that holds the folder, or None if no process does. Waits for a server that is starting."""
    end = time.monotonic() + _START_SECONDS
    while (url := _announced(folder, end)) == _NOT_YET:
        time.sleep(_PAUSE_SECONDS)
    return url


async def _address_in_turn(folder: DataFolder) -> str | None:
    """`_address` without blocking the event loop."""
    import asyncio

    end = time.monotonic() + _START_SECONDS
    while (url := _announced(folder, end)) == _NOT_YET:  # noqa: ASYNC110 - another process announces it
        await asyncio.sleep(_PAUSE_SECONDS)
    return url


def _announced(folder: DataFolder, end: float) -> str | None:
    """The address that the folder's process has announced, if any, or None if no process holds the folder. After `end`, silence is an error."""
    holder = folder.holder()
    if holder is None or holder.url is not None:
        return None if holder is None else holder.url
    if time.monotonic() > end:
        raise DataFolderBusy(f"Process {holder.pid} is using {folder.path}. Try again when it has finished.")
    return _NOT_YET


def _no_certificates() -> ssl.SSLContext:
    """A context without certificates: the address is plain `http`, and loading them takes longer than most responses."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _serve_here(where: Where, stack: AsyncExitStack) -> httpx.AsyncBaseTransport:
    """Run a server inside this process until the stack is closed."""
    # Imported here, because it takes seconds and calls to a running server do not need it.
    import httpx

    from citewell.settings import change, load_settings

    with defer_model_build():
        from citewell.app import build

    settings = load_settings(data=where.path) if isinstance(where, DataFolder) else where
    app = build(change(settings, host="127.0.0.1"))
    await stack.enter_async_context(app.router.lifespan_context(app))
    return httpx.ASGITransport(app)


async def call(client: httpx.AsyncClient, method: str, path: str, **request: Any) -> Any:
    """The JSON response to a call. Raises the server's error."""
    response = await fetch(client, method, path, **request)
    return response.json() if response.content else None


async def fetch(client: httpx.AsyncClient, method: str, path: str, **request: Any) -> httpx.Response:
    """The response to a call. Raises the server's error."""
    response = await client.request(method, path, **request)
    if response.is_success:
        return response
    raise _error_of(response.status_code, response.content)


def _error_of(status: int, content: bytes) -> CitewellError:
    """The server's error, or `http_error` if the response is not Citewell's."""
    try:
        error = json.loads(content)["error"]
        return from_code(error["code"], error["message"], error.get("details"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return from_code("http_error", content[:200].decode("utf-8", "replace"), {"status": status})
