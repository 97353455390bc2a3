"""Chat models whose answers are a script of deltas and errors, asked through a whole turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from citewell.agent.graph import Assistant
from citewell.agent.interface import AgentEvent, Done, TextDelta, TextRestarted, TurnRequest
from citewell.agent.model.assistant import Budget
from citewell.agent.model.known import KnownModel
from citewell.ports import Capability, ChatDelta, ChatMessage, ToolSpec
from citewell.types import FirstSearch, JsonObject
from tests.agent.fakes import WordEmbedder, WordSearcher, hit
from tests.agent.reading import MESSAGES

LIMIT = "A first-time borrower may receive at most GHS 5,000."
QUESTION = "What is the maximum loan size for first-time borrowers?"
FILES = (
    hit(LIMIT, page=3, ordinal=1),
    hit("A returning borrower may receive at most GHS 12,000.", page=3, ordinal=2),
    hit("Interest is 2.5% per month, charged on what is still owed.", page=4, ordinal=3),
)
Answer = str | Exception | Sequence[ChatDelta] | Callable[[Sequence[ChatMessage]], "Answer"]


@dataclass
class Scripted:
    """Gives its answers in order, the last one again and again. Keeps what it was sent."""

    answers: Sequence[Answer]
    model: str = "qwen"
    capabilities: frozenset[Capability] = frozenset({Capability.TOOLS})
    sent: list[list[ChatMessage]] = field(default_factory=list[list[ChatMessage]])
    options: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta]:
        self.sent.append(list(messages))
        self.options.append({"tools": [tool.name for tool in tools], "max_tokens": max_tokens})
        answer = self.answers[min(len(self.sent), len(self.answers)) - 1]
        while callable(answer):
            answer = answer(messages)
        if isinstance(answer, Exception):
            raise answer
        for delta in [ChatDelta(text=answer)] if isinstance(answer, str) else answer:
            yield delta


async def ask(
    model: Scripted, known: KnownModel | None = None, *, message: str = QUESTION, seconds: float = 600.0, **request: Any
) -> tuple[Done, str, list[AgentEvent]]:
    """The end of a turn, what its reader has seen of the answer, and all events. Every question is searched first."""
    assistant = Assistant(
        WordSearcher(FILES),
        WordEmbedder(),
        chat_model=model,
        known=known or KnownModel(),
        budget=Budget(seconds=seconds),
        first_search=FirstSearch.ALWAYS,
        message_model=MESSAGES,
    )
    events = [event async for event in assistant.run(TurnRequest(owner_id="ada", message=message, **request))]
    seen = ""
    for event in events:
        seen = "" if isinstance(event, TextRestarted) else seen
        seen += event.text if isinstance(event, TextDelta) else ""
    done = events[-1]
    assert isinstance(done, Done), done
    return done, seen, events
