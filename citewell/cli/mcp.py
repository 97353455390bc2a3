"""`citewell mcp`: the tools for MCP clients that start a program and speak over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import Data, settings_of, where
from citewell.client import Where, connect, run
from citewell.errors import DataFolderBusy
from citewell.system.folder import DataFolder

if TYPE_CHECKING:
    import httpx

    from citewell.settings import Settings

app = typer.Typer()
_ACCEPT = "application/json, text/event-stream"
_INTERNAL_ERROR = -32603


@app.command()
def mcp(
    project: Annotated[
        list[str] | None, typer.Option("--project", help="Only files in this project. Repeatable.")
    ] = None,
    data: Data = None,
) -> None:
    """Serve the tools over standard input and output, for MCP clients that start programs.

    Uses the server that holds the data folder. Without one, it is itself a server on a free port of this machine, so that links open and
    other commands work meanwhile.
    """
    run(_serve(where(data), project or []))


async def _serve(place: Where, projects: list[str]) -> None:
    async with _Door(place) as door, asyncio.TaskGroup() as tasks:
        version: dict[str, str] = {}
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            if line.strip():
                tasks.create_task(_forward(door, projects, line, version))


class _Door:
    """The way to the server that holds the folder: another process's, or one within this process, for as long as no other serves it."""

    def __init__(self, place: Where) -> None:
        self._place = place
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> _Door:
        self._client = await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def post(self, content: bytes, **request: Any) -> httpx.Response:
        """The response to a message. If the server has ended since, the folder is opened again, once."""
        import httpx

        client = self._client
        assert client is not None
        try:
            return await client.post("/mcp", content=content, **request)
        except httpx.ConnectError:
            async with self._opening:
                if self._client is client:
                    self._client = await self._open()
                again = self._client or client
            return await again.post("/mcp", content=content, **request)

    async def _open(self) -> httpx.AsyncClient:
        folder = self._place if isinstance(self._place, DataFolder) else DataFolder(self._place.data)
        if folder.holder() is None:
            from citewell.server import serving  # takes a second, which a client of a running server does not wait

            settings = settings_of(folder.path) if isinstance(self._place, DataFolder) else self._place
            with suppress(DataFolderBusy):  # another process was faster
                await self._stack.enter_async_context(serving(_private(settings)))
        return await self._stack.enter_async_context(connect(self._place))


def _private(settings: Settings) -> Settings:
    """The settings for a server that only this machine reaches, on a free port."""
    from citewell.settings import change

    return change(settings, host="127.0.0.1", port=0)


async def _forward(door: _Door, projects: list[str], line: bytes, version: dict[str, str]) -> None:
    """Send one message to `/mcp` and write the response as a line; a notification has none."""
    import httpx

    headers = {"Accept": _ACCEPT, "Content-Type": "application/json", **version}
    try:
        response = await door.post(line, params={"project": projects}, headers=headers)
        answer: Any = response.json() if response.content else None
        if answer is not None and "jsonrpc" not in answer:  # Citewell's own error, such as an unknown project
            answer = _failed(line, answer["error"]["message"])
    except (httpx.HTTPError, ValueError) as error:
        answer = _failed(line, f"The server is not responding: {error}")
    if answer is not None:
        agreed = answer.get("result", {}).get("protocolVersion") if isinstance(answer.get("result"), dict) else None
        if agreed:
            version["MCP-Protocol-Version"] = agreed
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _failed(line: bytes, message: str) -> dict[str, Any] | None:
    try:
        known: Any = json.loads(line)
    except ValueError:
        known = {"id": None}
    if not isinstance(known, dict) or "id" not in known:
        return None
    return {"jsonrpc": "2.0", "id": known["id"], "error": {"code": _INTERNAL_ERROR, "message": message}}
