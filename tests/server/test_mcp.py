"""`/mcp` with the official client: the five tools, scoped by token and project, and what is wrong told to the model."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import httpx2
import pytest
from mcp import MCPError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.agent.turn.tools import Toolbox
from citewell.features.audited import AuditRecord, keep_record
from citewell.features.mcp.endpoints import McpEndpoint
from citewell.features.mcp.service import McpTools
from citewell.types.accounts import Principal
from tests.agent.fakes import WordSearcher
from tests.server.mcp_client import connected
from tests.server.running import Server

NOTE = b"# Lighthouse\n\nThe lamp of the lighthouse turns once every twelve seconds.\n"
TOOLS = ["search_files", "list_resources", "read_resource", "query_table", "analyze_image"]
SALES = b"Month,Visitors\nJan,120\nFeb,340\nMar,95\n"


@pytest.fixture(scope="module", autouse=True)
def _files(server: Server) -> None:
    server.add("Lighthouse.md", NOTE, project="Coast")
    server.add("Visitors.csv", SALES, project="Coast")
    server.add("Meadow.md", b"# Meadow\n\nThe meadow is mown in June.\n", project="Inland")


async def test_five_tools_that_only_read_and_none_that_takes_an_owner(server: Server) -> None:
    async with connected(server) as client:
        tools = (await client.client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert not any("owner" in str(tool.input_schema).lower() for tool in tools)


async def test_searching_gives_passages_with_their_places(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("search_files", {"query": "How often does the lamp turn?", "top_k": 3})
    assert not result.is_error
    assert "twelve seconds" in result.text
    best = result.content["passages"][0]
    assert best["filename"] == "Lighthouse.md"
    assert best["label"] in result.text


async def test_a_search_is_narrowed_by_filters_projects_and_identifiers(server: Server) -> None:
    said = {"identifier": "lamp-note", "metadata": '{"height": 31, "coast": "west"}', "project": "Coast"}
    server.add("Lamps.md", b"# Lamps\n\nEvery lamp of the coast is lit at dusk.\n", **said)
    async with connected(server, "?project=Coast&project=Inland") as client:
        tall = {"field": "metadata.height", "operator": "gt", "value": 30}
        result = await client.call("search_files", {"query": "lamp", "filters": [{"any": [tall]}]})
        (found,) = result.content["passages"]
        assert (found["identifier"], found["metadata"]) == ("lamp-note", {"height": 31, "coast": "west"})
        assert "identifier lamp-note; height: 31; coast: west" in result.text
        named = await client.call(
            "search_files", {"query": "lamp", "resource_ids": ["Lamp-Note"], "projects": ["Coast"]}
        )
        assert [p["filename"] for p in named.content["passages"]] == ["Lamps.md"]
        wrong = await client.call("search_files", {"query": "lamp", "filters": [{"field": "colour", "value": "red"}]})
        assert wrong.is_error
        assert "metadata.<key>" in wrong.text
        assert "dusk" in (await client.call("read_resource", {"resource_id": "lamp-note"})).text
    async with connected(server, "?project=Inland") as client:
        for narrowed in ({"projects": ["Coast"]}, {"filters": [tall]}):
            outside = await client.call("search_files", {"query": "lamp", **narrowed})
            assert outside.content["passages"] == []


async def test_listing_reading_and_computing(server: Server) -> None:
    async with connected(server, "?project=Coast") as client:
        listed = (await client.call("list_resources", {})).text
        assert "Lighthouse.md" in listed
        assert "Meadow.md" not in listed
        note = next(line for line in listed.splitlines() if line.startswith("Lighthouse.md"))
        read = await client.call("read_resource", {"resource_id": note.split("id ", 1)[1].split(",")[0]})
        assert "twelve seconds" in read.text
        table = next(line for line in listed.splitlines() if line.startswith("Table "))
        query = {
            "source": table.removeprefix("Table ").split(" ")[0],
            "aggregates": [{"function": "sum", "column": "Visitors"}],
        }
        result = await client.call("query_table", query)
        assert "555" in result.text
        data = {"filters": [{"field": "category", "value": "data"}]}
        narrowed = (await client.call("list_resources", data)).text
        assert ("Visitors.csv" in narrowed, "Lighthouse.md" in narrowed) == (True, False)
        texts = {"filters": [{"not": {"field": "category", "value": "data"}}]}
        narrowed = (await client.call("list_resources", texts)).text
        assert ("Table " in narrowed, "Lighthouse.md" in narrowed) == (False, True)
        assert "555" in (await client.call("query_table", query | data)).text
        outside = await client.call("query_table", query | texts)
        assert outside.is_error
        wrong = await client.call("list_resources", {"filters": [{"field": "page", "value": 3}]})
        assert wrong.is_error
        assert "Allowed: category" in wrong.text


async def test_a_project_bounds_searches_and_reading(server: Server) -> None:
    meadow = next(r["id"] for r in server.resources() if r["filename"] == "Meadow.md")
    async with connected(server, "?project=Coast") as client:
        found = await client.call("search_files", {"query": "When is the meadow mown?"})
        assert "mown in June" not in found.text
        named = await client.call("search_files", {"query": "meadow", "resource_ids": [meadow]})
        assert named.content["passages"] == []
        read = await client.call("read_resource", {"resource_id": meadow})
        assert read.is_error


async def test_what_is_wrong_is_told_in_the_result(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("search_files", {"query": 7})
        assert result.is_error
        assert "`query`" in result.text
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call("delete_everything", {})


async def test_without_a_token_nobody_gets_in(server: Server) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        async with httpx2.AsyncClient(headers=headers) as http:
            response = await http.post(f"{server.url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"


async def test_another_owners_files_are_not_there(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("read_resource", {"resource_id": "someone-elses"})
    assert result.is_error


class _OneOwner:
    """Lets everyone in as one owner."""

    async def authenticate(self, token: str | None) -> Principal:
        return Principal(owner_id="ada")

    async def admit(self, owner_id: str) -> None:
        pass


async def _toolbox() -> Toolbox:
    return Toolbox(WordSearcher([]))


_ASK: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def _recorded(app: ASGIApp) -> ASGIApp:
    """Gives each request its record, as the server does, and enters it nowhere."""

    async def nothing(_: object) -> None:
        return None

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        keep_record(Request(scope), AuditRecord(network="", begin=nothing))
        await app(scope, receive, send)

    return answer


async def test_the_first_requests_are_answered_though_they_come_together_and_one_of_them_leaves() -> None:
    endpoint = McpEndpoint()
    tools = McpTools(toolbox=_toolbox, projects=None, ledger=None, top_k=10)  # type: ignore[arg-type]
    app = _recorded(Starlette(routes=[Route("/mcp", endpoint, methods=["POST"])]))
    for _ in range(2):  # an application may be started again after it was stopped
        async with (
            endpoint.run(tools, _OneOwner()),  # type: ignore[arg-type]
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here", headers=_HEADERS) as client,
        ):
            asked = [asyncio.create_task(client.post("/mcp", json=_ASK)) for _ in range(4)]
            await asyncio.sleep(0)
            asked[0].cancel()
            answers = await asyncio.gather(*asked[1:])
        assert [[tool["name"] for tool in a.json()["result"]["tools"]] for a in answers] == [["search_files"]] * 3


async def test_a_server_that_nobody_asked_for_tools_stops_at_once() -> None:
    async with asyncio.timeout(60):
        async with McpEndpoint().run(None, None):  # type: ignore[arg-type]
            pass
