"""`/mcp` with the official client: the tools, files as resources, and prompts, scoped by token and project, and what is wrong told to the model."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx
import httpx2
import pytest
from mcp import MCPError
from mcp.types import TextContent, TextResourceContents
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.agent.turn.tools import Toolbox
from citewell.features.audited import AuditRecord, keep_record
from citewell.features.mcp.endpoints import McpEndpoint
from citewell.features.mcp.service import McpTools
from citewell.system.shares import Shares
from citewell.types.accounts import Principal
from tests.agent.fakes import WordSearcher
from tests.server.mcp_client import connected
from tests.server.running import Server

NOTE = b"# Lighthouse\n\nThe lamp of the lighthouse turns once every twelve seconds.\n"
TOOLS = [
    "search",
    "fetch",
    "citewell_search_files",
    "citewell_list_resources",
    "citewell_read_resource",
    "citewell_query_table",
    "citewell_analyze_image",
]
SALES = b"Month,Visitors\nJan,120\nFeb,340\nMar,95\n"


@pytest.fixture(scope="module", autouse=True)
def _files(server: Server) -> None:
    server.add("Lighthouse.md", NOTE, project="Coast")
    server.add("Visitors.csv", SALES, project="Coast")
    server.add("Meadow.md", b"# Meadow\n\nThe meadow is mown in June.\n", project="Inland")


async def test_tools_only_read_and_none_takes_an_owner(server: Server) -> None:
    async with connected(server) as client:
        tools = (await client.client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert not any("owner" in str(tool.input_schema).lower() for tool in tools)
    own = {name.removeprefix("citewell_") for name in TOOLS[2:]}
    said = " ".join(f"{tool.description} {tool.input_schema}" for tool in tools)
    assert not re.search(rf"(?<!citewell_)\b({'|'.join(own)})\b", said)


async def test_searching_gives_passages_with_their_places(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("citewell_search_files", {"query": "How often does the lamp turn?", "top_k": 3})
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
        result = await client.call("citewell_search_files", {"query": "lamp", "filters": [{"any": [tall]}]})
        (found,) = result.content["passages"]
        assert (found["identifier"], found["metadata"]) == ("lamp-note", {"height": 31, "coast": "west"})
        assert "identifier lamp-note; height: 31; coast: west" in result.text
        named = await client.call(
            "citewell_search_files", {"query": "lamp", "resource_ids": ["Lamp-Note"], "projects": ["Coast"]}
        )
        assert [p["filename"] for p in named.content["passages"]] == ["Lamps.md"]
        wrong = await client.call(
            "citewell_search_files", {"query": "lamp", "filters": [{"field": "colour", "value": "red"}]}
        )
        assert wrong.is_error
        assert "metadata.<key>" in wrong.text
        assert "dusk" in (await client.call("citewell_read_resource", {"resource_id": "lamp-note"})).text
    async with connected(server, "?project=Inland") as client:
        for narrowed in ({"projects": ["Coast"]}, {"filters": [tall]}):
            outside = await client.call("citewell_search_files", {"query": "lamp", **narrowed})
            assert outside.content["passages"] == []


async def test_listing_reading_and_computing(server: Server) -> None:
    async with connected(server, "?project=Coast") as client:
        listed = (await client.call("citewell_list_resources", {})).text
        assert "Lighthouse.md" in listed
        assert "Meadow.md" not in listed
        note = next(line for line in listed.splitlines() if line.startswith("Lighthouse.md"))
        read = await client.call("citewell_read_resource", {"resource_id": note.split("id ", 1)[1].split(",")[0]})
        assert "twelve seconds" in read.text
        table = next(line for line in listed.splitlines() if line.startswith("Table "))
        query = {
            "source": table.removeprefix("Table ").split(" ")[0],
            "aggregates": [{"function": "sum", "column": "Visitors"}],
        }
        result = await client.call("citewell_query_table", query)
        assert "555" in result.text
        data = {"filters": [{"field": "category", "value": "data"}]}
        narrowed = (await client.call("citewell_list_resources", data)).text
        assert ("Visitors.csv" in narrowed, "Lighthouse.md" in narrowed) == (True, False)
        texts = {"filters": [{"not": {"field": "category", "value": "data"}}]}
        narrowed = (await client.call("citewell_list_resources", texts)).text
        assert ("Table " in narrowed, "Lighthouse.md" in narrowed) == (False, True)
        assert "555" in (await client.call("citewell_query_table", query | data)).text
        outside = await client.call("citewell_query_table", query | texts)
        assert outside.is_error
        wrong = await client.call("citewell_list_resources", {"filters": [{"field": "page", "value": 3}]})
        assert wrong.is_error
        assert "Allowed: category" in wrong.text


async def test_a_project_bounds_searches_and_reading(server: Server) -> None:
    meadow = next(r["id"] for r in server.resources() if r["filename"] == "Meadow.md")
    async with connected(server, "?project=Coast") as client:
        found = await client.call("citewell_search_files", {"query": "When is the meadow mown?"})
        assert "mown in June" not in found.text
        named = await client.call("citewell_search_files", {"query": "meadow", "resource_ids": [meadow]})
        assert named.content["passages"] == []
        read = await client.call("citewell_read_resource", {"resource_id": meadow})
        assert read.is_error


async def test_what_is_wrong_is_told_in_the_result(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("citewell_search_files", {"query": 7})
        assert result.is_error
        assert "`query`" in result.text
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call("delete_everything", {})


async def test_the_tools_answer_to_their_earlier_names(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("search_files", {"query": "How often does the lamp turn?"})
    assert "twelve seconds" in result.text


async def test_deep_research_clients_search_and_fetch(server: Server) -> None:
    """The contract of https://platform.openai.com/docs/mcp: one text, the JSON of what is also structured."""
    async with connected(server) as client:
        found = await client.call("search", {"query": "How often does the lamp turn?"})
        assert json.loads(found.text) == found.content
        best = found.content["results"][0]
        assert set(best) == {"id", "title", "url"}
        read = await client.call("fetch", {"id": best["id"]})
        assert json.loads(read.text) == read.content
        assert {key: read.content[key] for key in best} == best
        assert "twelve seconds" in read.content["metadata"]["passage"]
        assert "twelve seconds" in read.content["text"]
        assert (await client.call("search", {"query": "x", "top_k": 3})).is_error
        for wrong in ({"id": "no-such-file"}, {"id": "a b"}, {"id": 7}, {}, {"id": best["id"], "more": 1}):
            assert (await client.call("fetch", wrong)).is_error
    chunk = server.client.get(best["url"].replace("/library/", "/resources/").replace("?passage=", "/chunks/"))
    assert "twelve seconds" in chunk.json()["text"]


async def test_a_fetched_passage_lies_between_its_neighbours_and_a_long_file_is_cut(server: Server) -> None:
    paragraphs = [f"## Part {n}\n\nThe keeper's log number {n} tells of {'wind and rain ' * 60}." for n in range(80)]
    log = server.add("Log.md", "\n\n".join(paragraphs).encode(), project="Logs")
    chunks = server.client.get(f"/resources/{log['id']}/chunks", params={"limit": 500}).json()["chunks"]
    middle = chunks[len(chunks) // 2]
    async with connected(server, "?project=Logs") as client:
        near = (await client.call("fetch", {"id": f"resources/{log['id']}/chunks/{middle['id']}"})).content
        start = (await client.call("fetch", {"id": log["id"]})).content
    assert near["text"].index(middle["text"]) > 0
    assert not near["text"].endswith(middle["text"])
    assert start["text"].startswith(chunks[0]["text"])
    assert (start["metadata"]["complete"], near["metadata"]["complete"]) == ("false", "false")
    assert max(len(near["text"]), len(start["text"])) <= 12_000


async def test_passages_are_structured_citations_that_their_schema_describes(server: Server) -> None:
    async with connected(server) as client:
        await client.client.list_tools()  # from then on the client validates results against the tools' schemas
        found = await client.call("citewell_search_files", {"query": "lamp of the lighthouse", "top_k": 2})
        assert (await client.call("citewell_list_resources", {})).content["passages"] == []
    for passage in found.content["passages"]:
        assert passage["url"].endswith(f"/library/{passage['resource_id']}?passage={passage['chunk_id']}")
        assert passage["url"] in found.text


async def test_files_are_resources_within_the_projects_of_the_connection(server: Server) -> None:
    async with connected(server, "?project=Inland") as client:
        listed = (await client.client.list_resources()).resources
        assert [one.name for one in listed] == ["Meadow.md"]
        (text,) = (await client.client.read_resource(listed[0].uri)).contents
        assert isinstance(text, TextResourceContents)
        assert "mown in June" in text.text
    async with connected(server, "?project=Coast") as client:
        with pytest.raises(MCPError, match="no access"):
            await client.client.read_resource(listed[0].uri)
        assert (await client.call("fetch", {"id": listed[0].uri.removeprefix("citewell://")})).is_error
        templates = (await client.client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "citewell://resources/{resource_id}",
            "citewell://resources/{resource_id}/chunks/{chunk_id}",
        ]
        with pytest.raises(MCPError):
            await client.client.list_resources(cursor="not-a-cursor")


async def test_prompts_are_filled_with_their_argument(server: Server) -> None:
    async with connected(server) as client:
        listed = (await client.client.list_prompts()).prompts
        for prompt in listed:
            (argument,) = prompt.arguments or []
            result = await client.client.get_prompt(prompt.name, {argument.name: "the lamp {of} the coast"})
            (message,) = result.messages
            assert isinstance(message.content, TextContent)
            assert "the lamp {of} the coast" in message.content.text
            with pytest.raises(MCPError, match=argument.name):
                await client.client.get_prompt(prompt.name, {})
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.client.get_prompt("none", {})


async def test_without_a_token_nobody_gets_in(server: Server) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        async with httpx2.AsyncClient(headers=headers) as http:
            response = await http.post(f"{server.url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"


async def test_another_owners_files_are_not_there(server: Server) -> None:
    async with connected(server) as client:
        result = await client.call("citewell_read_resource", {"resource_id": "someone-elses"})
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
    tools = McpTools(
        toolbox=_toolbox,
        projects=None,  # type: ignore[arg-type]
        resources=None,  # type: ignore[arg-type]
        content=None,  # type: ignore[arg-type]
        ledger=None,  # type: ignore[arg-type]
        shares=Shares("tool calls", each=4),
        top_k=10,
    )
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
        assert [[tool["name"] for tool in a.json()["result"]["tools"]] for a in answers] == [
            ["search", "fetch", "citewell_search_files"]
        ] * 3


async def test_a_server_that_nobody_asked_for_tools_stops_at_once() -> None:
    async with asyncio.timeout(60):
        async with McpEndpoint().run(None, None):  # type: ignore[arg-type]
            pass
