"""Anthropic's adapter, through Anthropic's own SDK, against a server that keeps Anthropic's contract."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anthropic
import pytest

from citewell.adapters import registry
from citewell.adapters.chat.anthropic import AnthropicDialect, build
from citewell.errors import CitewellError, ConfigurationError, ProviderAuthError, ProviderUnavailable
from citewell.ports import ChatMessage, ImageInput, SourceBlock
from citewell.ports.metering import MeteredChat, tallied
from citewell.settings import AnthropicChat, load_settings
from citewell.testing.chat_model import (
    QUESTION,
    ChatModelConformance,
    NativeCitationConformance,
    StructuredOutputConformance,
    ToolConformance,
    collect,
    said,
)
from citewell.testing.vision_model import VisionModelConformance
from tests.adapters.chat.conftest import AnyChat
from tests.contract_servers.anthropic import KEY, AnthropicServer, search_results
from tests.contract_servers.script import Queue, Reply

Server = tuple[AnthropicServer, str]


class TestAnthropic(
    ChatModelConformance,
    ToolConformance,
    StructuredOutputConformance,
    NativeCitationConformance,
):
    @pytest.fixture
    def scripted(self, anthropic_model: Callable[..., AnyChat]) -> Callable[..., AnyChat]:
        return anthropic_model


class TestAnthropicVision(VisionModelConformance):
    @pytest.fixture
    def scripted(self, anthropic_model: Callable[..., AnyChat]) -> Callable[..., AnyChat]:
        return anthropic_model


async def test_sources_go_as_search_results_with_citations_enabled(
    anthropic_server: Server, anthropic_chat: Callable[..., AnyChat]
) -> None:
    source = SourceBlock(n=2, title="Loan Policy.pdf (p. 3)", source="Loan Policy.pdf", text="At most GHS 5,000.")
    await collect(
        anthropic_chat(),
        [ChatMessage(role="user", content="How much?", sources=(source,))],
    )
    found = search_results(anthropic_server[0].requests[0]["messages"])
    assert [(b["title"], b["citations"]) for b in found] == [("Loan Policy.pdf (p. 3)", {"enabled": True})]


async def test_rules_are_cached_and_cached_tokens_are_metered(
    anthropic_server: Server, anthropic_chat: Callable[..., AnyChat]
) -> None:
    messages = [ChatMessage(role="system", content="Answer briefly. " * 400), ChatMessage(role="user", content="Why?")]
    model = MeteredChat(anthropic_chat(), "anthropic")
    spent: list[int] = []
    for _ in range(2):
        with tallied() as tally:
            await collect(model, messages)
        spent.append(tally.of("chat")[0].input_tokens)
    system = anthropic_server[0].requests[0]["system"]
    assert [block["cache_control"] for block in system] == [{"type": "ephemeral"}]
    assert len(anthropic_server[0].cached) == 1
    assert spent[0] == spent[1] > 1_024, "what is read from the cache was sent too"


async def test_overloaded_inside_a_stream_is_unavailable(
    anthropic_server: Server, anthropic_chat: Callable[..., AnyChat]
) -> None:
    anthropic_server[0].script = Queue(Reply(text="There are 312.", error_after=2, error_type="overloaded_error"))
    with pytest.raises(ProviderUnavailable):
        await collect(anthropic_chat())


async def test_wrong_key_is_told(anthropic_server: Server, anthropic_chat: Callable[..., AnyChat]) -> None:
    with pytest.raises(ProviderAuthError):
        await collect(anthropic_chat(key="sk-wrong"))


async def test_describes_an_image(anthropic_server: Server, anthropic_chat: Callable[..., AnyChat]) -> None:
    anthropic_server[0].script = Queue(Reply(text="A bar chart."))
    model = anthropic_chat()
    assert await model.describe(ImageInput(b"\x89PNG", "image/png"), "Describe it.") == "A bar chart."
    image = anthropic_server[0].requests[0]["messages"][0]["content"][0]
    assert (image["type"], image["source"]["media_type"]) == ("image", "image/png")


async def test_an_abandoned_answer_is_stopped_at_the_server(
    anthropic_server: Server, anthropic_chat: Callable[..., AnyChat]
) -> None:
    anthropic_server[0].script = Queue(Reply(text="x" * 400, pieces=200, delay=0.05))
    stream = anthropic_chat().stream(QUESTION)
    await anext(stream)
    await stream.aclose()
    assert await asyncio.to_thread(anthropic_server[0].client_left.wait, 60)


def test_every_error_of_the_sdk_is_one_of_ours() -> None:
    dialect = AnthropicDialect("claude-test", KEY, None, 1.0)
    for kind in _all_subclasses(anthropic.AnthropicError):
        error: Any = Exception.__new__(kind)
        error.status_code, error.message, error.body, error.request_id = 400, "no", None, None
        error.response = type("Response", (), {"headers": {}})()
        ours = dialect.error(error)
        assert isinstance(ours, CitewellError), kind
        assert "could not be read" not in ours.message, f"no rule for {kind.__name__}"


def test_settings_that_lack_something_are_told() -> None:
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        registry.build_chat_model(load_settings(chat_provider="anthropic", chat_model="claude-test").chat)


async def test_no_temperature_is_sent_unless_one_is_configured(anthropic_server: Server) -> None:
    model = build(_settings(anthropic_server), "claude-test")
    await collect(model, temperature=0.7)
    await model.close()
    assert "temperature" not in anthropic_server[0].requests[0]


async def test_a_configured_temperature_and_limit_reach_the_model(anthropic_server: Server) -> None:
    model = build(_settings(anthropic_server, temperature=0.7), "claude-test")
    assert said(await collect(model, temperature=0.7, max_tokens=77)) == "All right."
    await model.close()
    assert [request["temperature"] for request in anthropic_server[0].requests] == [0.7]
    assert [request["max_tokens"] for request in anthropic_server[0].requests] == [77]


async def test_a_model_that_takes_no_temperature_answers_without_and_the_log_says_so(
    anthropic_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    model = build(_settings(anthropic_server, temperature=0.7), "claude-next-test")
    assert said(await collect(model, temperature=0.7)) == "All right."
    assert said(await collect(model, temperature=0.7)) == "All right."
    await model.close()
    assert ["temperature" in request for request in anthropic_server[0].requests] == [True, False, False]
    assert caplog.messages == ["claude-next-test does not accept a temperature; none is sent from now on"]


def _settings(server: Server, **settings: object) -> AnthropicChat:
    address = {"anthropic_api_key": KEY, "anthropic_base_url": server[1]}
    chat = load_settings(chat_provider="anthropic", **address, **settings).chat
    assert isinstance(chat, AnthropicChat)
    return chat


def _all_subclasses(kind: type) -> list[type]:
    return [kind, *(found for sub in kind.__subclasses__() for found in _all_subclasses(sub))]
