"""One citation looks the same wherever an answer is read, whatever kind of place it points to."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from citewell import AsyncCitewell
from citewell.agent.graph import Assistant
from citewell.agent.interface import AgentEvent, Done, Source, TextDelta, TurnRequest
from citewell.agent.turn.state import ToolResult
from citewell.app import build
from citewell.features.mcp.service import McpTools
from citewell.features.routers import Application
from citewell.features.turns import Answering, LateAssistant
from citewell.ports import ToolCall
from citewell.settings import load_settings
from citewell.types import Answer, Box, Citation, JsonObject, Locator, OriginalPicture, Provenance, Verdict
from tests.agent.fakes import hit

_BOX = Box(1, 10, 20, 30, 40)
PLACES: dict[str, Locator] = {
    "page and rectangles": Locator(page=1, page_label="i", boxes=(_BOX,), headings=("Fees",)),
    "pages": Locator(page=1, pages=(1, 2), boxes=(_BOX, replace(_BOX, page=2))),
    "cell of a table on a page": Locator(page=1, row=2, column="Fee", boxes=(_BOX,), cell_boxes=(_BOX,)),
    "row of a sheet": Locator(sheet="Loans", row=5),
    "rows of a sheet": Locator(sheet="Loans", row=2, row_end=9, rows=(2, 9)),
    "cell of a sheet": Locator(sheet="Loans", row=5, column="Amount", cell="C5"),
    "slide": Locator(slide=7),
    "moment of a recording": Locator(second=65.5),
    "characters": Locator(char_start=0, char_end=12, headings=("Keys",)),
    "whole file": Locator(),
}
PICTURES: dict[str, str | None] = {"picture in a file": "images/p1 é.png", "picture file": None}
RECORD = Provenance(record_id="rec1", identifier="INV-7", metadata={"year": 2024, "tags": ("a", "b")})


def citations(resource_id: str) -> list[Citation]:
    """One of each kind."""
    plain = Citation(
        n=0, chunk_id="c", resource_id=resource_id, version=1, filename="a.pdf", locator=Locator(), label="",
        quote="The fee is 25.", verdict=Verdict.SUPPORTED, score=0.98765,
    )  # fmt: skip
    found = [replace(plain, locator=place) for place in PLACES.values()]
    found += [replace(plain, picture=OriginalPicture(resource_id, blob)) for blob in PICTURES.values()]
    found.append(replace(plain, provenance=RECORD))
    return [
        replace(one, n=n, chunk_id=f"c{n}", label=one.locator.label(one.filename)) for n, one in enumerate(found, 1)
    ]


class Citing:
    """Answers everything with a sentence for each kind of citation."""

    chat_model = ""

    def __init__(self, resource_id: str) -> None:
        self.answer = Answer(
            text=" ".join(f"The fee is 25 [{one.n}]." for one in citations(resource_id)),
            citations=tuple(citations(resource_id)),
            intent="document_query",
            answered=True,
        )

    async def run(self, request: TurnRequest, tally: object = None) -> AsyncGenerator[AgentEvent]:
        yield TextDelta(self.answer.text)
        yield Done(answer=self.answer)


def _answers_with(answering: Answering, resource_id: str) -> None:
    answering.hand_over(LateAssistant(lambda: cast("Assistant", Citing(resource_id))))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    app: Application = build(load_settings(data=tmp_path / "data", webhook_private_addresses=True))
    async with app.router.lifespan_context(app):
        headers = {"Authorization": f"Bearer {app.state.services.folder.token()}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            record = {"records": [{"id": "rec1", "text": "The fee is 25."}]}
            added = await client.post("/records", json=record)
            _answers_with(app.state.services.chat.turns.answering, added.json()["resource_ids"][0])
            yield client


def test_every_field_of_a_place_and_of_a_citation_is_tried() -> None:
    """A kind of place that is new to `Locator` or `Citation` has to be added above."""
    untried = {f.name for f in fields(Locator)} - {
        f.name for f in fields(Locator) for place in PLACES.values() if getattr(place, f.name) not in (None, ())
    }
    assert untried == set()
    plain, *_ = citations("r")
    same = {
        f.name
        for f in fields(Citation)
        if all(getattr(one, f.name) == getattr(plain, f.name) for one in citations("r"))
    }
    assert same == {"resource_id", "version", "filename", "quote", "verdict", "score"}
    assert all(Citation.from_json(one.to_json()) == replace(one, score=0.9877) for one in citations("r"))


async def test_every_face_shows_the_same_citations(client: httpx.AsyncClient, tmp_path: Path) -> None:
    hook = await client.post("/webhooks", json={"url": "http://127.0.0.1:9/", "events": ["answer.completed"]})
    assert hook.status_code == 201, hook.text
    whole = (await client.post("/chat", json={"message": "What is the fee?"})).json()
    resource_id = whole["citations"][0]["resource_id"]
    wanted = [json.loads(json.dumps(one.to_json())) for one in citations(resource_id)]
    pictured = [one["image"]["path"] for one in wanted if "image" in one]
    assert pictured == [f"/resources/{resource_id}/blobs/images/p1%20%C3%A9.png", f"/resources/{resource_id}/file"]
    shown: dict[str, Any] = {"POST /chat": whole["citations"]}
    lines = (await client.post("/chat", json={"message": "And now?", "stream": True})).text.splitlines()
    shown["POST /chat, streamed"] = json.loads(lines[-1])["done"]["citations"]
    thread = (await client.get(f"/threads/{whole['thread_id']}")).json()
    shown["GET /threads/{id}"] = thread["messages"][-1]["citations"]
    asked = {"model": "citewell", "messages": [{"role": "user", "content": "What is the fee?"}]}
    completion = (await client.post("/v1/chat/completions", json=asked)).json()["choices"][0]["message"]
    shown["/v1"] = [one["citation"] for one in completion["annotations"]]
    streamed = (await client.post("/v1/chat/completions", json=asked | {"stream": True})).text
    (noted,) = re.findall(r'^data: (.*"annotations".*)$', streamed, re.M)
    shown["/v1, streamed"] = [one["citation"] for one in json.loads(noted)["choices"][0]["delta"]["annotations"]]
    made = (await client.post("/webhooks/incoming", json={"kind": "result", "name": "n8n"})).json()
    secret = {"Authorization": f"Bearer {made['secret']}"}
    answered = await client.post(made["path"], json={"message": "What is the fee?"}, headers=secret)
    assert answered.status_code == 200, answered.text
    shown["POST /webhooks/incoming/{id}/result"] = answered.json()["citations"]
    archive = zipfile.ZipFile(io.BytesIO((await client.get("/export")).content))
    kept = [json.loads(line) for line in archive.read("tables/citations.ndjson").splitlines()]
    shown["GET /export"] = [row["data"] for row in kept if row["message_id"] == whole["message_id"]]
    told = archive.read("tables/webhook_deliveries.ndjson").decode()
    shown["answer.completed"] = _citations_in(json.loads(told.splitlines()[0]))
    for face, found in shown.items():
        assert [_stripped(one) for one in found] == wanted, face


async def test_a_shared_link_shows_each_by_its_label_and_its_words(client: httpx.AsyncClient) -> None:
    whole = (await client.post("/chat", json={"message": "What is the fee?"})).json()
    made = await client.post(f"/threads/{whole['thread_id']}/messages/{whole['message_id']}/share", json={})
    assert made.status_code == 201, made.text
    path = made.json()["path"]
    wanted = [
        {"n": one.n, "label": one.label, "quote": one.quote, "verdict": one.verdict.value}
        for one in citations(whole["citations"][0]["resource_id"])
    ]
    anybody = httpx.AsyncClient(transport=client._transport, base_url="http://127.0.0.1")
    found = await anybody.get(f"/shared-answers/{path.rpartition('/')[2]}")
    assert found.json()["passages"] == wanted
    page = html.unescape((await anybody.get(path)).text)
    assert [one["label"] for one in wanted if str(one["label"]) not in page] == []


async def test_openai_s_responses_and_the_ai_sdk_name_the_file_of_each(client: httpx.AsyncClient) -> None:
    asked = {"model": "citewell", "input": "What is the fee?"}
    response = (await client.post("/v1/responses", json=asked)).json()
    (content,) = [one for item in response["output"] if item["type"] == "message" for one in item["content"]]
    resource_id = content["annotations"][0]["file_id"].partition("-")[2]
    assert len(content["annotations"]) == len(citations(resource_id))
    body = {"message": "What is the fee?", "stream": True, "protocol": "ai-sdk"}
    streamed = (await client.post("/chat", json=body)).text
    parts = [json.loads(line) for line in re.findall(r"^data: (\{.*)$", streamed, re.M)]
    assert len([one for one in parts if one["type"].startswith("source-")]) >= 1


async def test_mcp_gives_the_place_of_each_passage(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tuple(
        Source(n, replace(hit("The fee is 25.", locator=place, filename="a.pdf"), picture=picture))
        for n, (place, picture) in enumerate(
            [(place, None) for place in PLACES.values()]
            + [(Locator(), OriginalPicture("r1", blob)) for blob in PICTURES.values()],
            1,
        )
    )

    async def call(_: object, owner_id: str, scope: object, name: str, arguments: JsonObject) -> ToolResult:
        return ToolResult(ToolCall("mcp", name, arguments), "Found.", sources)

    monkeypatch.setattr(McpTools, "call", call)
    result = await _tool(client, "citewell_search_files", {"query": "fee"})
    passages = result["structuredContent"]["passages"]
    assert [one["locator"] for one in passages] == [s.hit.chunk.locator.to_json() for s in sources]
    assert [one["label"] for one in passages] == [s.hit.chunk.locator.label("a.pdf") for s in sources]
    assert [one["n"] for one in passages if "picture" in one] == [s.n for s in sources if s.hit.picture is not None]
    found = await _tool(client, "search", {"query": "fee"})
    assert [one["title"] for one in found["structuredContent"]["results"]] == [one["label"] for one in passages]


async def _tool(client: httpx.AsyncClient, name: str, arguments: JsonObject) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    answered = await client.post("/mcp", json=call, headers=headers)
    assert answered.status_code == 200, answered.text
    text = answered.text if answered.text.startswith("{") else answered.text.partition("data: ")[2].partition("\n")[0]
    return json.loads(text)["result"]


def _citations_in(value: Any) -> list[dict[str, Any]]:
    """The first list called `citations` in a row, however deep, and in text that is JSON."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, dict):
        row = cast("dict[str, Any]", value)
        return row.get("citations") or next(filter(None, map(_citations_in, row.values())), [])
    return []


def _stripped(citation: dict[str, Any]) -> dict[str, Any]:
    """A citation of a response: without what is null, and whether its file is still there, which only a server can say."""
    return {name: value for name, value in citation.items() if value is not None and name != "available"}


async def test_the_library_gives_them_whole(tmp_path: Path) -> None:
    async with AsyncCitewell(tmp_path / "data") as opened:
        added = await opened.add_texts([{"id": "rec1", "text": "The fee is 25."}])
        _answers_with(opened._services.chat.turns.answering, added.resource_ids[0])
        assert list((await opened.ask("What is the fee?")).citations) == citations(added.resource_ids[0])
