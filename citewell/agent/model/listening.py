"""Listens to a chat model: what it says goes to a writer at once, within bounds; calls are taken in whatever form they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from citewell.agent.citations.forms import CitationForms
from citewell.agent.interface import ModelReads, Source
from citewell.agent.model.known import KnownModel
from citewell.agent.model.repeats import Repeats
from citewell.agent.model.spoken_calls import SpokenCalls
from citewell.agent.turn.state import TurnState
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ports import ChatDelta, ChatMessage, ChatModel, ToolCall, ToolSpec
from citewell.ports.metering import CHARACTERS_PER_TOKEN, sent_tokens

MAX_HIDDEN_TOKENS = 200
"""Tokens that a model may say before its first look-up: a call, or a question back."""
MAX_ANSWER_TOKENS = 1_000
"""Tokens of an answer by your own model, unless `CITEWELL_MAX_TOKENS` is set."""
CUT = frozenset({"length", "max_tokens"})
"""Why a model stops in the middle, as OpenAI and Anthropic say it."""
MIN_READ_SHARE = 0.7
"""Share of the estimated tokens of a prompt, below which the server has read only the end of it. English has 4.5 characters a
token at most, so a prompt that was read whole has 0.85 or more."""
MIN_WINDOW = 1_000
"""Tokens reported as read below which a server counts only what it had not cached, rather than what fits."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model said: its calls, and whether it was cut off at its longest."""

    calls: tuple[ToolCall, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is sent. max_tokens: for the server; longest: tokens of text after which it is stopped, None for any length."""

    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec] = ()
    max_tokens: int | None = None
    longest: int | None = None
    temperature: float = 0.0
    expected_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Where what is said goes. withdraw: what was said so far was a thought."""

    write: Callable[[str], None]
    withdraw: Callable[[], None]
    cite: Callable[[int], None] = lambda _: None
    sources: Callable[[], Sequence[Source]] = tuple


async def answer_of(model: ChatModel, request: Request) -> AsyncGenerator[ChatDelta]:
    """The model's answer; closing it ends the request."""
    answer = model.stream(
        request.messages, tools=request.tools, max_tokens=request.max_tokens, temperature=request.temperature
    )
    try:
        async for delta in answer:
            yield delta
    finally:
        if (close := getattr(answer, "aclose", None)) is not None:
            await close()


class Listener:
    """Asks one model for the turns of all."""

    def __init__(self, model: ChatModel, known: KnownModel, names: Sequence[str]) -> None:
        """names: of the tools that there are, calls of which are never shown."""
        self._model = model
        self._known = known
        self._names = names

    async def hear(self, turn: TurnState, request: Request, speech: Speech) -> Heard:
        """Say what the model says.

        Raises `ProviderUnavailable` where it only repeats itself, and `ProviderRejected` (`context_too_long`) where it read only part
        of what it was sent.
        """
        forms, spoken, repeats = CitationForms(speech.sources), SpokenCalls(self._names), Repeats()
        calls: list[ToolCall] = []
        length, is_cut = 0, False
        if self._known.is_own:
            turn.emit(ModelReads(self._sent(request), request.expected_seconds))
        with turn.timed("model"):
            async with aclosing(answer_of(self._model, request)) as answer:
                async for delta in answer:
                    if delta.retracts:
                        forms, spoken, repeats = CitationForms(speech.sources), SpokenCalls(self._names), Repeats()
                        length = 0
                        speech.withdraw()
                    if delta.text:
                        length += len(delta.text)
                        if repeats.read(delta.text):
                            raise ProviderUnavailable("It repeats itself.")
                        speech.write(forms.read(spoken.read(delta.text)))
                    if delta.cited_source is not None:
                        speech.write(forms.finish())
                        speech.cite(delta.cited_source)
                    if delta.tool_call is not None:
                        calls.append(delta.tool_call)
                    is_cut = is_cut or delta.stop_reason in CUT
                    self._count(turn, request, delta)
                    if request.longest is not None and length > request.longest * CHARACTERS_PER_TOKEN:
                        is_cut = True
                        break
        rest, written = spoken.finish()
        speech.write(forms.read(rest) + forms.finish())
        return Heard(tuple(calls) or written, is_cut)

    def _sent(self, request: Request) -> int:
        tools = sum(len(tool.description) + len(str(dict(tool.parameters))) for tool in request.tools)
        return sent_tokens(request.messages) + tools // CHARACTERS_PER_TOKEN

    def _count(self, turn: TurnState, request: Request, delta: ChatDelta) -> None:
        if delta.usage is None:
            return
        read = delta.usage.input_tokens
        turn.dialogue.tokens += read + delta.usage.output_tokens
        if self._known.is_own and MIN_WINDOW <= read < self._sent(request) * MIN_READ_SHARE:
            self._known.learn_window(read + delta.usage.output_tokens)
            raise ProviderRejected(
                f"The server read only {read:,} tokens of a prompt of about {self._sent(request):,}.",
                reason="context_too_long",
            )
