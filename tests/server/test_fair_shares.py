"""What one owner may have a server do at once: exports, distributions, streams of events. Others go on as if nothing were."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import zipfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.agent.interface import AgentEvent, Failed, TextDelta
from citewell.app import build
from citewell.composition import Services
from citewell.errors import RateLimited
from citewell.features.owner_data import service as owner_data
from citewell.features.waiting import begun
from citewell.settings import load_settings

pytestmark = pytest.mark.full

CODE = "rate_limited"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncGenerator[tuple[httpx.AsyncClient, Services]]:
    app = build(load_settings(data=tmp_path / "data"))
    async with app.router.lifespan_context(app):
        services: Services = app.state.services
        headers = {"Authorization": f"Bearer {services.folder.token()}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            for number in range(3):
                sent = {"file": (f"{number}.txt", f"The rent of flat {number} is 900 euros.".encode())}
                assert (await client.post("/ingest", files=sent)).status_code == 201
            yield client, services


async def test_one_export_of_an_owner_runs_at_a_time_and_the_next_is_told_when_to_come_back(
    opened: tuple[httpx.AsyncClient, Services],
) -> None:
    client, services = opened
    under_way = services.owner_data.export(services.local_owner)
    await anext(under_way)
    refused = await client.get("/export")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, CODE)
    assert int(refused.headers["retry-after"]) > 0
    async with aclosing(services.owner_data.export("somebody else")) as theirs:
        assert await anext(theirs)
    await under_way.aclose()  # the client has left
    archive = zipfile.ZipFile(io.BytesIO((await client.get("/export")).content))
    assert archive.testzip() is None
    assert len([name for name in archive.namelist() if name.startswith("files/")]) == 3


async def test_an_export_is_packed_in_threads_piece_by_piece(
    opened: tuple[httpx.AsyncClient, Services], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, services = opened
    packed, lines = list[int](), owner_data._lines
    monkeypatch.setattr(owner_data, "_ROWS_AT_ONCE", 1)

    def watched(rows: Sequence[Mapping[str, Any]]) -> bytes:
        packed.append(threading.get_ident())
        return lines(rows)

    monkeypatch.setattr(owner_data, "_lines", watched)
    pieces = [piece async for piece in services.owner_data.export(services.local_owner)]
    assert threading.get_ident() not in packed
    assert len(packed) > 3
    assert zipfile.ZipFile(io.BytesIO(b"".join(pieces))).testzip() is None


async def test_an_export_that_is_cancelled_while_it_packs_ends_with_that_step(
    opened: tuple[httpx.AsyncClient, Services], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, services = opened
    begin, go_on, lines = threading.Event(), threading.Event(), owner_data._lines
    steps = list[str]()

    def slow(rows: Sequence[Mapping[str, Any]]) -> bytes:
        begin.set()
        go_on.wait(30)
        steps.append("packed")
        return lines(rows)

    monkeypatch.setattr(owner_data, "_lines", slow)

    async def download() -> None:
        async with aclosing(services.owner_data.export(services.local_owner)) as pieces:
            async for _ in pieces:
                pass

    leaving = asyncio.create_task(download())
    await asyncio.to_thread(begin.wait, 30)
    leaving.cancel()
    await asyncio.sleep(0)
    assert not leaving.done()
    go_on.set()
    await asyncio.gather(leaving, return_exceptions=True)
    assert steps == ["packed"]
    async with services.owner_data.exports.hold(services.local_owner):
        pass  # the place is free


async def test_the_audit_log_is_exported_once_at_a_time(opened: tuple[httpx.AsyncClient, Services]) -> None:
    client, services = opened
    async with services.audit._exports.hold(services.local_owner):
        for form in ("csv", "ndjson"):
            refused = await client.get("/audit/export", params={"format": form})
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, CODE)
    assert (await client.get("/audit/export", params={"format": "csv"})).text.startswith("number,")


async def test_streams_of_events_of_one_owner_are_counted_and_end_with_their_reader(
    opened: tuple[httpx.AsyncClient, Services],
) -> None:
    client, services = opened
    one = (await client.get("/resources")).json()["resources"][0]["id"]
    await services.resources.wait(services.local_owner, one)
    assert (await client.get(f"/resources/{one}/events")).status_code == 200
    held = [services.resources.streams.hold(services.local_owner) for _ in range(100)]
    for hold in held:
        await hold.__aenter__()
    refused = await client.get(f"/resources/{one}/events")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, CODE)
    for hold in held:
        await hold.__aexit__(None, None, None)
    assert (await client.get(f"/resources/{one}/events")).status_code == 200


QUESTION = [{"role": "user", "content": "What is the rent?"}]
ASKING: dict[str, dict[str, Any]] = {
    "/chat": {"message": "What is the rent?"},
    "/v1/chat/completions": {"model": "citewell", "messages": QUESTION},
    "/v1/responses": {"model": "citewell", "input": QUESTION},
}


@pytest.mark.parametrize("path", ASKING)
async def test_answers_of_one_owner_are_counted_whatever_asks_for_them(
    opened: tuple[httpx.AsyncClient, Services], path: str
) -> None:
    client, services = opened
    async with AsyncExitStack() as stack:
        for _ in range(64):
            await stack.enter_async_context(services.chat.turns.shares.hold(services.local_owner))
        refused = await client.post(path, json=ASKING[path] | {"stream": True})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, CODE)
        assert "64 answers in progress" in refused.json()["error"]["message"]
        assert int(refused.headers["retry-after"]) > 0
        async with services.chat.turns.shares.hold("somebody else"):
            pass
    assert (await client.get("/threads")).json()["threads"] == [], "a refused question is not kept"
    for _ in range(2):
        assert (await client.post(path, json=ASKING[path] | {"stream": True})).status_code == 200
    assert not services.chat.turns.shares.running(services.local_owner)


async def test_tool_calls_of_one_owner_are_counted(opened: tuple[httpx.AsyncClient, Services]) -> None:
    client, services = opened
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream"}
    async with AsyncExitStack() as stack:
        for _ in range(64):
            await stack.enter_async_context(services.mcp.shares.hold(services.local_owner))
        refused = await client.post("/mcp", json=listing, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, CODE)
    assert (await client.post("/mcp", json=listing, headers=headers)).status_code == 200
    assert not services.mcp.shares.running(services.local_owner)


@pytest.mark.parametrize("detached", [False, True])
async def test_a_client_that_leaves_frees_its_place_once_nothing_is_written_for_it_any_more(
    opened: tuple[httpx.AsyncClient, Services], monkeypatch: pytest.MonkeyPatch, detached: bool
) -> None:
    client, services = opened
    shares, owner, go_on = services.chat.turns.shares, services.local_owner, asyncio.Event()

    async def slow(*_: object) -> AsyncGenerator[AgentEvent]:
        yield TextDelta("The rent")
        await go_on.wait()
        yield Failed("internal", "It ends here.", {})

    monkeypatch.setattr(type(services.chat.turns), "run", slow)
    body = ASKING["/chat"] | {"stream": True, "detached": detached}
    await _ask_and_leave(client, body, while_there=lambda: shares.running(owner) == 1)
    assert shares.running(owner) == int(detached)
    go_on.set()
    for _ in range(100):
        if not shares.running(owner):
            break
        await asyncio.sleep(0.05)
    assert not shares.running(owner)


async def _ask_and_leave(client: httpx.AsyncClient, body: object, while_there: Callable[[], bool]) -> None:
    """Send a question, wait for the first piece of its answer, and close the connection."""
    content = json.dumps(body).encode()
    arrived, left = asyncio.Event(), False
    sent = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> Any:
        if (message := next(sent, None)) is not None:
            return message
        await arrived.wait()
        nonlocal left
        left = while_there()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and message["body"]:
            arrived.set()

    headers = {
        "host": "127.0.0.1",
        "authorization": client.headers["authorization"],
        "content-type": "application/json",
        "content-length": str(len(content)),
    }
    transport = client._transport
    assert isinstance(transport, httpx.ASGITransport)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/chat",
        "raw_path": b"/chat",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "root_path": "",
    }
    await asyncio.wait_for(transport.app(scope, receive, send), 60)
    assert left, "the place is held while the answer is written"


async def test_those_who_follow_one_file_share_the_looks_at_the_database(
    opened: tuple[httpx.AsyncClient, Services], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, services = opened
    looks = list[str]()

    async def newest(_: object, resource_id: str) -> int:
        looks.append(resource_id)
        return 7

    monkeypatch.setattr(type(services.resources.events), "newest", newest)
    followers = (services.resources._newest_event("one of many") for _ in range(50))
    assert await asyncio.gather(*followers) == [7] * 50
    assert looks == ["one of many"]


async def _numbers(*, fails: bool) -> AsyncGenerator[int]:
    if fails:
        raise RateLimited
    for number in range(3):
        yield number


async def test_pieces_that_have_begun_are_all_there_and_a_refusal_comes_before_them() -> None:
    assert [piece async for piece in await begun(_numbers(fails=False))] == [0, 1, 2]
    with pytest.raises(RateLimited):
        await begun(_numbers(fails=True))
