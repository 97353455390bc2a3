"""`/mcp` as the official client sees it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ImageContent, TextContent

from tests.server.running import Server


@dataclass(frozen=True)
class Result:
    """What a tool gave back: its text, what stands beside it in JSON, and whether it is an error."""

    text: str
    content: dict[str, Any]
    is_error: bool
    image: ImageContent | None = None


class Tools:
    """The tools of one connection."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, arguments: Mapping[str, object]) -> Result:
        result = await self.client.call_tool(tool, dict(arguments))
        shown, *images = result.content
        assert isinstance(shown, TextContent)
        assert len(images) <= 1
        image = next((one for one in images if isinstance(one, ImageContent)), None)
        return Result(shown.text, result.structured_content or {}, bool(result.is_error), image)


@asynccontextmanager
async def connected(server: Server, query: str = "", token: str | None = None) -> AsyncGenerator[Tools]:
    authorization = f"Bearer {token}" if token else server.client.headers["Authorization"]
    async with httpx2.AsyncClient(headers={"Authorization": authorization}, timeout=60) as http:
        transport = streamable_http_client(f"{server.url}/mcp{query}", http_client=http)
        async with Client(transport) as client:
            yield Tools(client)
