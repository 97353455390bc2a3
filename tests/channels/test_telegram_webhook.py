"""The webhook: nothing of a request is read before its secret is the right one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from citewell.channels.telegram.bot import webhook_secret
from citewell.features.http import install_error_handlers
from citewell.features.telegram.endpoints import webhook_router
from citewell.features.telegram.service import TelegramDoor, TelegramService
from citewell.settings import load_settings
from citewell.types import JsonObject
from tests.contract_servers.telegram import TOKEN

HEADER = "X-Telegram-Bot-Api-Secret-Token"


@pytest.fixture
def received() -> list[JsonObject]:
    return []


@pytest.fixture
def client(received: list[JsonObject]) -> httpx.AsyncClient:
    async def receive(update: JsonObject) -> None:
        received.append(update)

    nothing = cast(Any, None)
    door = TelegramDoor(username="bot", secret="s3cret", receive=receive)
    service = TelegramService(
        repository=nothing, inbox=nothing, chats=nothing, owners=nothing, pages=nothing, door=door
    )
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(webhook_router)
    app.state.services = SimpleNamespace(telegram=service)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://citewell")


async def test_an_update_with_the_secret_is_taken(client: httpx.AsyncClient, received: list[JsonObject]) -> None:
    answer = await client.post("/telegram/webhook", json={"update_id": 5}, headers={HEADER: "s3cret"})
    assert answer.status_code == 200
    assert received == [{"update_id": 5}]


@pytest.mark.parametrize("secret", [None, "", "s3cre", "wrong", "sécret"])
async def test_without_the_secret_the_body_is_not_read(
    client: httpx.AsyncClient, received: list[JsonObject], secret: str | None
) -> None:
    read: list[bytes] = []

    async def body() -> AsyncIterator[bytes]:
        read.append(b"{")
        yield b'{"update_id": 5}'

    headers = {} if secret is None else {HEADER: secret.encode("latin-1")}
    answer = await client.post("/telegram/webhook", content=body(), headers=cast(Any, headers))
    assert answer.status_code == 401
    assert (read, received) == ([], [])


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"[" * 5_000, b'"text"'])
async def test_what_is_no_update_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/telegram/webhook", content=body, headers={HEADER: "s3cret"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")


def test_the_secret_is_made_of_the_token_and_does_not_show_it() -> None:
    token = load_settings(data="x", telegram_bot_token=TOKEN).telegram.token
    assert token is not None
    secret = webhook_secret(token)
    assert len(secret) == 64
    assert TOKEN.split(":")[1] not in secret
