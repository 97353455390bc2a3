"""OpenAI's adapter, through OpenAI's own SDK, against a server that keeps OpenAI's contract."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest

from citewell.adapters import registry
from citewell.adapters.chat.openai import OpenAIDialect, chat
from citewell.errors import CitewellError, ConfigurationError, ProviderAuthError, ProviderRejected, ProviderUnavailable
from citewell.ports import ChatMessage, ImageInput
from citewell.settings import load_settings
from citewell.testing.chat_model import (
    QUESTION,
    SCHEMA,
    SEARCH,
    ChatModelConformance,
    ScriptedAnswer,
    StructuredOutputConformance,
    ToolConformance,
    collect,
    said,
)
from citewell.testing.vision_model import VisionModelConformance
from tests.adapters.chat.conftest import AnyChat
from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Queue, Reply

Server = tuple[OpenAIServer, str]


class TestOpenAI(ChatModelConformance, ToolConformance, StructuredOutputConformance):
    @pytest.fixture
    def scripted(self, openai_model: Callable[..., AnyChat]) -> Callable[..., AnyChat]:
        return openai_model


class TestOpenAIVision(VisionModelConformance):
    @pytest.fixture
    def scripted(self, openai_model: Callable[..., AnyChat]) -> Callable[..., AnyChat]:
        return openai_model


async def test_schema_is_sent_strict(openai_server: Server, openai_model: Callable[..., AnyChat]) -> None:
    await collect(openai_model(ScriptedAnswer(text="{}")), response_schema=SCHEMA)
    assert openai_server[0].requests[0]["response_format"]["json_schema"]["strict"] is True


async def test_compatible_endpoints_get_the_older_name_of_the_limit(
    openai_server: Server, openai_chat: Callable[..., AnyChat]
) -> None:
    await collect(openai_chat(), max_tokens=50)
    assert openai_server[0].requests[0]["max_tokens"] == 50


async def test_temperature_that_a_model_does_not_take_is_left_out_from_then_on(
    openai_server: Server, openai_chat: Callable[..., AnyChat]
) -> None:
    model = openai_chat("o3-test")
    assert said(await collect(model)) == "All right."
    assert said(await collect(model)) == "All right."
    assert ["temperature" in request for request in openai_server[0].requests] == [True, False, False]


async def test_wrong_key_is_told(openai_server: Server, openai_chat: Callable[..., AnyChat]) -> None:
    with pytest.raises(ProviderAuthError):
        await collect(openai_chat(key="sk-wrong"))


async def test_unknown_model_is_told(openai_server: Server, openai_chat: Callable[..., AnyChat]) -> None:
    with pytest.raises(ProviderRejected, match="does not exist"):
        await collect(openai_chat("gpt-none"))


async def test_a_real_overflow_is_told_apart(openai_server: Server, openai_chat: Callable[..., AnyChat]) -> None:
    with pytest.raises(ProviderRejected) as raised:
        await collect(openai_chat(), [ChatMessage(role="user", content="word " * 20_000)])
    assert raised.value.details["reason"] == "context_too_long"


async def test_nobody_there(opened: Callable[[AnyChat], AnyChat]) -> None:
    with pytest.raises(ProviderUnavailable):
        await collect(opened(chat("gpt-test", KEY, "http://127.0.0.1:9/v1", timeout=2)))


async def test_an_answer_that_is_no_json_is_an_error_of_ours(
    openai_server: Server, openai_chat: Callable[..., AnyChat]
) -> None:
    openai_server[0].script = Queue(Reply(status=502, message="<html>Bad gateway</html>"))
    with pytest.raises(ProviderUnavailable):
        await collect(openai_chat())


async def test_describes_an_image(openai_server: Server, openai_chat: Callable[..., AnyChat]) -> None:
    openai_server[0].script = Queue(Reply(text="A bar chart of four quarters."))
    text = await openai_chat().describe(ImageInput(b"\x89PNG", "image/png"), "Describe it.")
    assert text == "A bar chart of four quarters."
    parts = openai_server[0].requests[0]["messages"][0]["content"]
    assert parts[0]["image_url"]["url"].startswith("data:image/png;base64,")


async def test_an_abandoned_answer_is_stopped_at_the_server(
    openai_server: Server, openai_chat: Callable[..., AnyChat]
) -> None:
    openai_server[0].script = Queue(Reply(text="x" * 400, pieces=200, delay=0.05))
    stream = openai_chat().stream(QUESTION)
    await anext(stream)
    await stream.aclose()
    assert await asyncio.to_thread(openai_server[0].client_left.wait, 60)


async def test_tools_are_declared_as_functions(openai_server: Server, openai_model: Callable[..., AnyChat]) -> None:
    await collect(openai_model(ScriptedAnswer(text="No.")), tools=[SEARCH])
    assert openai_server[0].requests[0]["tools"][0]["function"]["name"] == "search_files"


def test_every_error_of_the_sdk_is_one_of_ours() -> None:
    dialect = OpenAIDialect("gpt-test", KEY, None, 1.0)
    for kind in _all_subclasses(openai.OpenAIError):
        error: Any = Exception.__new__(kind)
        error.status_code, error.message, error.body, error.request_id = 400, "no", None, None
        error.response = type("Response", (), {"headers": {}})()
        ours = dialect.error(error)
        assert isinstance(ours, CitewellError), kind
        assert "could not be read" not in ours.message, f"no rule for {kind.__name__}"


def test_settings_that_lack_something_are_told() -> None:
    with pytest.raises(ConfigurationError, match="CHAT_MODEL"):
        registry.build_chat_model(
            load_settings(chat_provider="openai", openai_api_key="k", chat_base_url="http://h/v1").chat
        )
    with pytest.raises(ConfigurationError, match="VISION_MODEL"):
        registry.build_vision_model(
            load_settings(vision_provider="openai", openai_api_key="k", chat_base_url="http://h/v1").vision
        )
    with pytest.raises(ConfigurationError, match=r"CHAT_PROVIDER.*OPENAI_API_KEY"):
        registry.build_chat_model(load_settings(chat_provider="openai", chat_model="gpt-test").chat)
    with pytest.raises(ConfigurationError, match=r"VISION_PROVIDER.*OPENAI_API_KEY"):
        registry.build_vision_model(load_settings(vision_provider="openai", chat_model="gpt-test").vision)


def _all_subclasses(kind: type) -> list[type]:
    return [kind, *(found for sub in kind.__subclasses__() for found in _all_subclasses(sub))]
