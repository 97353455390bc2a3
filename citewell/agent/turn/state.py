"""What the steps of one turn share: the request, the numbered sources found so far, counters, and the way out for events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from citewell.agent.citations.saying import Speaker
from citewell.agent.interface import AgentEvent, Source, ThreadSummary, TurnRequest, Usage
from citewell.agent.tables.language.table_planner import Planned, Refused
from citewell.metering import Tally
from citewell.ports import ChatMessage, TokenUsage
from citewell.types import Hit, JsonValue


class SourceBook:
    """Numbers the passages of a turn 1, 2, … in the order found; a passage found twice keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources: list[Source] = []

    def add(self, hits: Sequence[Hit]) -> tuple[Source, ...]:
        """The hits as sources, new ones numbered."""
        return tuple(self._add(hit) for hit in hits)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources of the turn."""
        return tuple(self._sources)

    def _add(self, hit: Hit) -> Source:
        number = self._numbers.setdefault(hit.chunk.id, len(self._numbers) + 1)
        if number > len(self._sources):
            self._sources.append(Source(number, hit))
        return self._sources[number - 1]


@dataclass(slots=True)
class Meter:
    """Counts what a turn costs: the chat model's calls as they come, for the turn's budget; the rest is in the tally."""

    model: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0
    stuffing_tokens: int | None = None

    def add(self, usage: TokenUsage) -> None:
        """Count what a call of a chat model cost."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens

    def usage(self, tally: Tally) -> Usage:
        """The counts so far; chat tokens by the tally where the model is a metered one (it counts query variations too)."""
        chat, embedded, reranked = tally.of("chat"), tally.of("embedding"), tally.of("rerank")
        return Usage(
            model=self.model,
            calls=sum(s.units for s in chat) if chat else self.calls,
            input_tokens=sum(s.input_tokens for s in chat) if chat else self.input_tokens,
            output_tokens=sum(s.output_tokens for s in chat) if chat else self.output_tokens,
            embedded_texts=sum(s.units for s in embedded),
            embedding_tokens=sum(s.input_tokens for s in embedded),
            rerank_units=sum(s.units for s in reranked),
            searches=self.searches,
            stuffing_tokens=self.stuffing_tokens,
            spent=tally.spent,
        )


@dataclass(slots=True)
class TurnContext:
    """Lives as long as one turn. `emit` hands an event to whoever reads the turn's stream.

    rounds: with a chat model, each message of it that called tools, and how many results stood before its own.
    """

    request: TurnRequest
    emit: Callable[[AgentEvent], None]
    book: SourceBook = field(default_factory=SourceBook)
    meter: Meter = field(default_factory=Meter)
    timings_ms: dict[str, float] = field(default_factory=dict[str, float])
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    speaker: Speaker | None = None
    summary: ThreadSummary | None = None
    stuffing: asyncio.Task[int | None] | None = None
    rounds: list[tuple[ChatMessage, int]] = field(default_factory=list[tuple[ChatMessage, int]])
    context_tokens: int = 0
    planned: Planned | None = None
    refused: Refused | None = None
    tally: Tally = field(default_factory=Tally)
    started: float = field(default_factory=time.monotonic)

    @contextmanager
    def timed(self, step: str) -> Generator[None]:
        """Add the time of the block to the step's milliseconds."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - begin) * 1000
            self.timings_ms[step] = round(self.timings_ms.get(step, 0.0) + spent, 2)

    def note(self, key: str, value: JsonValue) -> None:
        """Add a detail to the trace."""
        self.details[key] = value

    def show_prompt(self, purpose: str, messages: Sequence[ChatMessage]) -> None:
        """Add what a chat model is sent to the trace, when the request asks for it."""
        if self.request.debug:
            self.append("prompts", {"purpose": purpose, "messages": [_shown(message) for message in messages]})

    def append(self, key: str, value: Mapping[str, JsonValue]) -> None:
        """Add an entry to a list in the trace."""
        known = self.details.get(key)
        self.details[key] = [*(known if isinstance(known, list) else []), value]


def _shown(message: ChatMessage) -> dict[str, JsonValue]:
    return {
        "role": message.role,
        "content": message.content,
        "sources": [f"[{source.n}] {source.title}" for source in message.sources],
        "tool_calls": [f"{call.name}({dict(call.arguments)})" for call in message.tool_calls],
    }
