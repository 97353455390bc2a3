"""`citewell mcp`: the tools for MCP clients that start a program and speak over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import Data, where
from citewell.client import Where, connect, run

if TYPE_CHECKING:
    import httpx

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

    Uses the server that holds the data folder, or opens the folder itself.
    """
    run(_serve(where(data), project or []))


async def _serve(place: Where, projects: list[str]) -> None:
    async with connect(place) as client, asyncio.TaskGroup() as tasks:
        version: dict[str, str] = {}
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            if line.strip():
                tasks.create_task(_forward(client, projects, line, version))


async def _forward(client: httpx.AsyncClient, projects: list[str], line: bytes, version: dict[str, str]) -> None:
    """Send one message to `/mcp` and write the response as a line; a notification has none."""
    import httpx

    headers = {"Accept": _ACCEPT, "Content-Type": "application/json", **version}
    try:
        response = await client.post("/mcp", content=line, params={"project": projects}, headers=headers)
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
