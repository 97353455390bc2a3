"""MCP: the official client over HTTP and over standard input and output, from its first message to passages and a picture."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ImageContent, TextContent

from tests.server.running import RunningServer
from tests.transcripts.frames import png, scene
from tests.transcripts.record import Transcript

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "Loan Policy.pdf"


async def run(folder: Path) -> Transcript:
    """Both ways to a server with a document and a picture."""
    page = Transcript(
        "A run of an MCP client",
        "The official Python client against a running server. An MCP client's own model writes the answer, and cites the labels.",
    )
    with RunningServer(folder / "data", CITEWELL_OCR="false") as server:
        page.names[server.url] = "http://127.0.0.1:8000"
        server.add(SAMPLE.name, SAMPLE.read_bytes())
        server.add("coast.png", png(scene("car")), caption="The coastal road near Ada, from the drone.")
        headers = {"Authorization": server.client.headers["Authorization"]}
        page.step("Over HTTP", "`/mcp` with a token.")
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            await _tools(page, client)
            best = await _call(page, client, "search", {"query": "maximum loan size for first-time borrowers"})
            assert best.structured_content is not None
            await _call(page, client, "fetch", {"id": best.structured_content["results"][0]["id"]})
            await _call(
                page,
                client,
                "citewell_search_files",
                {"query": "maximum loan size for first-time borrowers", "top_k": 1},
            )
            found = await _call(
                page,
                client,
                "citewell_search_files",
                {"query": "coastal road near Ada", "top_k": 1, "types": ["image"]},
            )
            assert found.structured_content is not None
            picture = found.structured_content["passages"][0]["picture"]
            await _call(page, client, "citewell_analyze_image", {"resource_id": picture})
        page.step(
            "Over standard input and output", "`citewell mcp --data …`, as a client that starts programs runs it."
        )
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
        command = ["-m", "citewell.cli", "mcp", "--data", str(server.data)]
        async with Client(
            stdio_client(StdioServerParameters(command=sys.executable, args=command, env=environment))
        ) as client:
            await _tools(page, client)
            await _call(page, client, "citewell_analyze_image", {"resource_id": picture})
    return page


async def _tools(page: Transcript, client: Client) -> None:
    listed = (await client.list_tools()).tools
    page.block("tools/list\n" + "\n".join(f"  {tool.name}: {tool.title}" for tool in listed))


async def _call(page: Transcript, client: Client, tool: str, arguments: dict[str, object]) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    lines = [f"tools/call {tool} {arguments}"]
    for block in result.content:
        if isinstance(block, TextContent):
            lines += [f"  {page.plain(line)}"[:160] for line in block.text.splitlines() if line.strip()]
        elif isinstance(block, ImageContent):
            lines.append(f"  (image content, {block.mime_type})")
    page.block("\n".join(lines))
    return result
