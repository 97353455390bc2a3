"""How the command line talks to Citewell: over HTTP to the server that holds the data folder, or to one inside this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from citewell.errors import DataFolderBusy, from_code
from citewell.folder import DataFolder
from citewell.settings import Settings, change

_TIMEOUT = httpx.Timeout(600.0, connect=5.0)


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[httpx.AsyncClient]:
    """A client with the local token. The same calls work in both cases, as there is one interface: the HTTP API."""
    folder = DataFolder(settings.data)
    headers = {"Authorization": f"Bearer {folder.token()}"}
    holder = folder.holder()
    if holder is not None:
        if holder.url is None:
            raise DataFolderBusy(f"Process {holder.pid} is using {settings.data}. Try again when it has finished.")
        async with httpx.AsyncClient(base_url=holder.url, headers=headers, timeout=_TIMEOUT) as client:
            yield client
        return
    # Imported here, for it takes seconds: what talks to a running server does without.
    from citewell.app import build

    app = build(change(settings, host="127.0.0.1"))
    failure: Exception | None = None
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://citewell", headers=headers, timeout=_TIMEOUT
        ) as client,
    ):
        try:
            yield client
        except Exception as error:  # noqa: BLE001 - raised below: task groups within the server would wrap what is not theirs
            failure = error
    if failure is not None:
        raise failure


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
