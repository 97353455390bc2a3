"""Contract servers, and models that talk to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
def openai_model(openai_server: tuple[OpenAIServer, str]) -> Callable[..., LangChainChat]:
    """A model whose provider answers by the script."""

    def make(*answers: ScriptedAnswer) -> LangChainChat:
        openai_server[0].script = Queue(*map(reply, answers))
        return openai_adapter.chat("gpt-test", openai_contract.KEY, openai_server[1])

    return make


@pytest.fixture
def anthropic_model(anthropic_server: tuple[AnthropicServer, str]) -> Callable[..., LangChainChat]:
    """A model whose provider answers by the script."""

    def make(*answers: ScriptedAnswer) -> LangChainChat:
        anthropic_server[0].script = Queue(*map(reply, answers))
        return anthropic_adapter.chat("claude-test", anthropic_contract.KEY, anthropic_server[1])

    return make


def reply(answer: ScriptedAnswer) -> Reply:
    """The suite's answer as the contract servers' reply."""
    too_long = answer.context_too_long
    return Reply(
        text=answer.text,
        calls=tuple(
            Call(c.name, c.arguments if isinstance(c.arguments, str) else dict(c.arguments)) for c in answer.calls
        ),
        cited=tuple(Cited(text, results) for text, results in answer.cites),
        refuse=answer.refuses,
        status=400 if too_long else answer.status,
        message="prompt is too long: maximum context length exceeded" if too_long else "scripted",
        retry_after=answer.retry_after,
        drop_after=3 if answer.breaks_off else None,
        error_after=3 if answer.fails_midway else None,
        delay=answer.pause,
    )
