"""`citewell mcp` as the official client starts it: over a running server, and over the data folder itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from tests.server.in_process import InProcessServer

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
NOTE = b"# Lighthouse\n\nThe lamp of the lighthouse turns once every twelve seconds.\n"


def _program(data: Path) -> StdioServerParameters:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "citewell.cli", "mcp", "--data", str(data)], env=environment
    )


async def _search(data: Path) -> str:
    async with Client(stdio_client(_program(data))) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools[:3] == ["search", "fetch", "citewell_search_files"]
        result = await client.call_tool("citewell_search_files", {"query": "How often does the lamp turn?"})
        (shown,) = result.content
        assert isinstance(shown, TextContent)
        assert result.structured_content is not None
        link = result.structured_content["passages"][0]["url"]
        async with httpx2.AsyncClient() as browser:
            assert (await browser.get(link)).status_code == 200
        return shown.text


async def test_the_tools_are_served_over_standard_input_and_output(tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data") as server:
        server.add("Lighthouse.md", NOTE)
        assert "twelve seconds" in await _search(tmp_path / "data")  # now the program is the server, and its links open
    assert "twelve seconds" in await _search(tmp_path / "data")  # now the program is the server, and its links open


async def test_when_the_server_ends_the_program_opens_the_folder_itself(tmp_path: Path) -> None:
    data = tmp_path / "data"
    server = InProcessServer(data)
    server.start()
    server.add("Lighthouse.md", NOTE)
    async with Client(stdio_client(_program(data))) as client:
        await client.list_tools()
        server.stop()
        result = await client.call_tool("search", {"query": "How often does the lamp turn?"})
    assert not result.is_error
