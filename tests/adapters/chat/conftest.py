"""Contract servers, and models that talk to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from citewell.adapters.chat import anthropic as anthropic_adapter
from citewell.adapters.chat import openai as openai_adapter
from citewell.adapters.chat.langchain import LangChainChat
from citewell.testing.chat_model import ScriptedAnswer
from tests.contract_servers import anthropic as anthropic_contract
from tests.contract_servers import openai as openai_contract
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.script import Call, Cited, Queue, Reply
from tests.contract_servers.serving import serving

AnyChat = LangChainChat[Any]


@pytest.fixture
def openai_server() -> Iterator[tuple[OpenAIServer, str]]:
    """The server and its address."""
    server = OpenAIServer()
    with serving(server.app) as address:
        yield server, f"{address}/v1"


@pytest.fixture
def anthropic_server() -> Iterator[tuple[AnthropicServer, str]]:
    """The server and its address."""
    server = AnthropicServer()
    with serving(server.app) as address:
        yield server, address


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[AnyChat], AnyChat]]:
    """Closes every model that it is given, at the end."""
    models: list[AnyChat] = []

    def add(model: AnyChat) -> AnyChat:
        models.append(model)
        return model

    yield add
    for model in models:
        await model.close()


@pytest.fixture
def openai_chat(
    openai_server: tuple[OpenAIServer, str], opened: Callable[[AnyChat], AnyChat]
) -> Callable[..., AnyChat]:
    """A model of the server's, by name and key."""

    def make(model: str = "gpt-test", key: str = openai_contract.KEY, **options: Any) -> AnyChat:
        return opened(openai_adapter.chat(model, key, openai_server[1], **options))

    return make


@pytest.fixture
def anthropic_chat(
    anthropic_server: tuple[AnthropicServer, str], opened: Callable[[AnyChat], AnyChat]
) -> Callable[..., AnyChat]:
    """A model of the server's, by name and key."""

    def make(model: str = "claude-test", key: str = anthropic_contract.KEY, **options: Any) -> AnyChat:
        return opened(anthropic_adapter.chat(model, key, anthropic_server[1], **options))

    return make


@pytest.fixture
def openai_model(
    openai_server: tuple[OpenAIServer, str], openai_chat: Callable[..., AnyChat]
) -> Callable[..., AnyChat]:
    """A model whose provider answers by the script."""

    def make(*answers: ScriptedAnswer) -> AnyChat:
        openai_server[0].script = Queue(*map(reply, answers))
        return openai_chat()

    return make


@pytest.fixture
def anthropic_model(
    anthropic_server: tuple[AnthropicServer, str], anthropic_chat: Callable[..., AnyChat]
) -> Callable[..., AnyChat]:
    """A model whose provider answers by the script."""

    def make(*answers: ScriptedAnswer) -> AnyChat:
        anthropic_server[0].script = Queue(*map(reply, answers))
        return anthropic_chat()

    return make


def reply(answer: ScriptedAnswer) -> Reply:
    """The suite's answer as the contract servers' reply."""
    return Reply(
        text=answer.text,
        calls=tuple(
            Call(c.name, c.arguments if isinstance(c.arguments, str) else dict(c.arguments)) for c in answer.calls
        ),
        cited=tuple(Cited(text, results) for text, results in answer.cites),
        refuse=answer.refuses,
        status=answer.status,
        too_long=answer.context_too_long,
        body=answer.body,
        retry_after=answer.retry_after,
        drop_after=3 if answer.breaks_off else None,
        error_after=3 if answer.fails_midway else None,
        delay=answer.pause,
    )
