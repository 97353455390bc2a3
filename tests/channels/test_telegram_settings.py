"""The bot as its settings make it: behind a webhook, and with files that expire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from citewell.errors import ConfigurationError
from citewell.features.http import install_error_handlers
from citewell.features.telegram.endpoints import webhook_router
from citewell.ingest.capture import Spooled
from citewell.types import ResourceFilter, SearchRequest
from tests.channels.telegram_world import World, until, world
from tests.contract_servers.telegram import Person

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
ADDRESS = "https://citewell.example.org"
PATH = "/telegram/webhook"


@asynccontextmanager
async def _reachable(opened: World) -> AsyncGenerator[str]:
    """The webhook's route with these services, where Telegram's contract server finds `ADDRESS`; its real address."""
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(webhook_router)
    app.state.services = SimpleNamespace(telegram=opened.services.telegram)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    opened.server.reached[ADDRESS] = url
    try:
        yield url
    finally:
        server.should_exit = True
        await running


async def test_the_bot_registers_its_webhook_and_is_told_through_it(tmp_path: Path) -> None:
    async with (
        world(tmp_path / "data", telegram_access="everyone", telegram_webhook_url=f"{ADDRESS}/") as opened,
        _reachable(opened) as url,
    ):
        server = opened.server
        ann = Person(server=server, id=31)
        async with opened.bot():
            assert server.webhook["url"] == f"{ADDRESS}{PATH}"
            (registered,) = [given for method, given in server.calls if method == "setWebhook"]
            assert registered["allowed_updates"] == ["message", "callback_query"]
            await asyncio.to_thread(ann.send, "rent.txt", b"The rent of the flat in Lisbon is 1,250 euros a month.")
            await opened.said(ann.id, "ready")
            update = await asyncio.to_thread(ann.write, "What is the rent of the flat in Lisbon?")
            answer = await opened.said(ann.id, "[1]")
            assert "1,250" in answer.text
            assert server.refused_deliveries == []
            await asyncio.to_thread(server._post, update)  # pyright: ignore[reportPrivateUsage]
            async with httpx.AsyncClient(base_url=url) as stranger:
                refused = await stranger.post(PATH, json={**update, "update_id": 9_999})
            assert refused.status_code == 401
        assert len([one for one in server.of_chat(ann.id) if "[1]" in one.text]) == 1
        assert "getUpdates" not in {method for method, _ in server.calls}
        await asyncio.to_thread(ann.write, "Is anybody there?")
        assert server.refused_deliveries == [404]  # no bot runs, so Telegram keeps the update and sends it again


async def test_after_a_webhook_the_bot_asks_for_updates_again(tmp_path: Path) -> None:
    async with world(tmp_path / "data", telegram_access="everyone") as opened:
        opened.server.webhook = {"url": f"{ADDRESS}{PATH}", "secret_token": "old"}
        ann = Person(server=opened.server, id=32)
        async with opened.bot():
            ann.write("/help")
            await opened.said(ann.id, "/forget")
        assert opened.server.webhook == {}


@pytest.mark.parametrize("address", ["http://citewell.example.org", f"{ADDRESS}:9000"])
async def test_a_webhook_that_telegram_refuses_is_named_at_the_start(tmp_path: Path, address: str) -> None:
    async with world(tmp_path / "data", telegram_webhook_url=address) as opened:
        with pytest.raises(ConfigurationError, match=r"Telegram refused the webhook .*CITEWELL_TELEGRAM_WEBHOOK"):
            async with opened.bot():
                pass


async def test_files_expire_by_themselves_announced_first_and_deleted_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_TELEGRAM_FILE_TTL", "0.0015")  # hours: a few seconds
    async with world(tmp_path / "data", telegram_access="everyone") as opened:
        services, ann = opened.services, Person(server=opened.server, id=33)
        owner = await services.telegram.owner_of(ann.id)
        assert owner is not None
        await services.resources.upload(owner, _spooled(opened, b"This file was here before and stays."), "kept.txt")
        async with opened.bot():
            ann.send("short.txt", b"The key of the cellar is with the neighbour on the left.")
            await opened.said(ann.id, "has expired and was deleted everywhere")
            texts = [one.text for one in opened.server.of_chat(ann.id)]
            announced = next(place for place, text in enumerate(texts) if "will be deleted" in text)
            assert announced < next(place for place, text in enumerate(texts) if "has expired" in text)
            assert len([text for text in texts if "will be deleted" in text]) == 1
        found, _ = await services.resources.page(owner, ResourceFilter(), 9, None)
        assert [one.filename for one in found] == ["kept.txt"]
        (receipt,), _ = await services.resources.expiry.receipts(owner, 9, None)
        assert (receipt.receipt["files"], receipt.receipt["vectors_left"]) == (1, 0)
        search = await services.search.search(SearchRequest(owner_id=owner, query="key of the cellar", top_k=5))
        assert {hit.filename for hit in search.hits} <= {"kept.txt"}


async def test_what_does_not_fit_the_quotas_is_told_in_words(tmp_path: Path) -> None:
    async with world(
        tmp_path / "data", telegram_access="everyone", quota_files=1, quota_bytes=1_000, quota_questions=1
    ) as opened:
        ann = Person(server=opened.server, id=41)
        async with opened.bot():
            await asyncio.to_thread(ann.send, "rent.txt", b"The rent of the flat in Lisbon is 1,250 euros a month.")
            await opened.said(ann.id, "ready")
            await asyncio.to_thread(ann.send, "more.txt", b"The deposit is two months' rent.")
            refused = await opened.said(ann.id, "was not accepted")
            assert "The file quota is used up: 1 of 1." in refused.text
            await asyncio.to_thread(ann.send, "long.txt", b"x" * 2_000)
            await opened.said(ann.id, "The storage quota has no room for this file")
            ann.write("What is the rent?")
            await opened.said(ann.id, "1,250")
            ann.write("What is the deposit?")
            refused = await opened.said(ann.id, "The question quota is used up: 1 of 1 this month.")
            assert "ask an administrator" in refused.text
        assert await opened.files(ann) == ["rent.txt"]


def _spooled(opened: World, content: bytes) -> Spooled:
    with opened.services.resources.capture.open_spool() as spool:
        spool.write(content)
        return spool.finish()
