"""A short examination of your own chat model: two requests of the kind that answers take, timed."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from citewell.agent.model import prompts
from citewell.agent.model.listening import Request, answer_of
from citewell.agent.turn.specs import SHORT_LIST, SHORT_QUERY, SHORT_READ, SHORT_SEARCH
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ports import ChatMessage, ChatModel, SourceBlock, ToolSpec
from citewell.ports.metering import CHARACTERS_PER_TOKEN, sent_tokens
from citewell.types.chat_models import ModelExamination

SECONDS = 120.0
"""Limit of each request. A server that has not loaded the model yet reads gigabytes before it answers."""
_TOKENS = 200
_TOOLS = (SHORT_SEARCH, SHORT_LIST, SHORT_READ, SHORT_QUERY)
_ASKED = "Within how many days is the green lamp delivered?"
_SOURCE = SourceBlock(
    n=1,
    title="Delivery.pdf (p. 2)",
    source="examination",
    text="The green lamp is delivered within nine days. The blue lamp is delivered within four weeks, in a wooden box.",
)
_MARK = re.compile(r"\[\s*(?:\w+\s*)?1\s*\]|【1")


@dataclass(slots=True)
class _Timed:
    """What came of one request. first, last: seconds until the first and the last sign of an answer."""

    text: str = ""
    called: bool = False
    prompt: int = 0
    output: int = 0
    first: float = 0.0
    last: float = 0.0


async def examine(model: ChatModel, window: int | None = None) -> ModelExamination:
    """What the model does, and how quickly. window: the context that its server tells of.

    Raises a `ProviderError` where it does not answer at all.
    """
    rules = prompts.system_prompt(native_citations=False)
    cited = await _ask(model, [_system(rules), _user([_SOURCE])])
    if not (cited.text.strip() or cited.output):
        raise ProviderRejected(f"{model.model} returned an empty answer. Choose another model.")
    asked = [_system(prompts.system_prompt(native_citations=False, decides=True)), _user([])]
    tools: _Timed | None = None
    with suppress(ProviderRejected, ProviderUnavailable):  # it refuses tools, or takes too long with them
        tools = await _ask(model, asked, _TOOLS)
    reading, writing = tools or cited, max((cited, tools or cited), key=lambda one: one.output)
    return ModelExamination(
        calls_tools=tools is not None and tools.called,
        cites=bool(_MARK.search(cited.text)),
        reads=_rate(reading.prompt, reading.first),
        writes=_rate(writing.output, writing.last - writing.first),
        window=window,
    )


async def _ask(model: ChatModel, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec] = ()) -> _Timed:
    timed, begin = _Timed(), time.perf_counter()
    declared = sum(len(tool.description) + len(str(dict(tool.parameters))) for tool in tools) // CHARACTERS_PER_TOKEN
    timed.prompt = sent_tokens(messages) + declared
    try:
        async with (
            asyncio.timeout(SECONDS),
            aclosing(answer_of(model, Request(messages=messages, tools=tools, max_tokens=_TOKENS))) as answer,
        ):  # type: ignore[type-var]
            async for delta in answer:
                timed.last = time.perf_counter() - begin
                timed.first = timed.first or timed.last
                timed.text += delta.text
                timed.called = timed.called or delta.tool_call is not None
                if delta.usage is not None:
                    timed.output = delta.usage.output_tokens or timed.output
                    timed.prompt = max(timed.prompt if not delta.usage.input_tokens else 0, delta.usage.input_tokens)
    except TimeoutError as error:
        message = f"{model.model} did not answer within {SECONDS:.0f} seconds. Try again once it has loaded the model."
        raise ProviderUnavailable(message) from error
    timed.output = timed.output or len(timed.text) // CHARACTERS_PER_TOKEN
    return timed


def _system(rules: str) -> ChatMessage:
    return ChatMessage(role="system", content=rules)


def _user(sources: Sequence[SourceBlock]) -> ChatMessage:
    asked = prompts.question_prompt(_ASKED, (), has_sources=bool(sources), native_citations=False, searched=False)
    return ChatMessage(role="user", content=asked, sources=tuple(sources))


def _rate(tokens: int, seconds: float) -> float:
    """Tokens a second; 0 where the time was too short to measure."""
    return tokens / seconds if seconds > 0.0 else 0.0
