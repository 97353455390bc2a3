"""`citewell mcp` as the official client starts it: over a running server, and over the data folder itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from tests.server.in_process import InProcessServer

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
NOTE = b"# Lighthouse\n\nThe lamp of the lighthouse turns once every twelve seconds.\n"


async def _search(data: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "citewell.cli", "mcp", "--data", str(data)], env=environment
    )
    async with Client(stdio_client(program)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["search_files", "list_resources", "read_resource", "query_table", "analyze_image"]
        result = await client.call_tool("search_files", {"query": "How often does the lamp turn?"})
        (shown,) = result.content
        assert isinstance(shown, TextContent)
        return shown.text


async def test_the_tools_are_served_over_standard_input_and_output(tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data") as server:
        server.add("Lighthouse.md", NOTE)
        assert "twelve seconds" in await _search(tmp_path / "data")
    assert "twelve seconds" in await _search(tmp_path / "data")
