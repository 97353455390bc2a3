"""The state of one turn: what was asked, what the steps have found and decided so far, and the way out for events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto

from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.interface import AgentEvent, Source, TextDelta, TextRestarted, ThreadSummary, TurnRequest
from citewell.agent.tables.picture.planner import PlannedPicture
from citewell.agent.tables.planner import Planned, Refused
from citewell.agent.tables.run.engine import TableResult
from citewell.agent.understand.intent import Intent
from citewell.agent.understand.recollection import Leaning
from citewell.agent.understand.rephrase import Rephrased
from citewell.ports import ChatMessage, ImageInput, ToolCall
from citewell.ports.metering import Tally
from citewell.system.tracing import span
from citewell.types import Answer, Hit, InferredFilter, JsonValue, NoAnswer
from citewell.types.chat_models import ChatProfile
from citewell.types.conversations import Remembered
from citewell.types.message_reading import Act, MessageRead


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call found: a text for the model, the passages it may cite, of a table query the rows themselves, and the pictures it shows."""

    call: ToolCall
    text: str
    sources: tuple[Source, ...] = ()
    table: TableResult | None = None
    failed: bool = False
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its citations are checked. Its text has been emitted already, so it must be safe to render as it is.

    sources: what `[n]` in the text may name; nearest: what to offer where there is no answer.
    confidence: how probable it is that the passages answer, or that the table question is read rightly; None where nothing was weighed
    no_answer: why there is no answer; None where a model decides
    computed: whether a typed query gave what it says, and the rows that it cites
    written: whether a chat model wrote it about files: it is given only if a source supports it
    """

    text: str
    answered: bool
    sources: tuple[Source, ...] = ()
    nearest: tuple[Source, ...] = ()
    confidence: float | None = None
    no_answer: NoAnswer | None = None
    computed: bool = False
    written: bool = False


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found in earlier conversations, and what the message says of them. leaning: None if it says nothing."""

    quotes: tuple[Remembered, ...] = ()
    leaning: Leaning | None = None


class NextStep(Enum):
    """What an assistant does when it is next asked for a step.

    LOOK_UP:       nothing was looked up yet: plan a table query, or search, or let the model decide
    DECIDE:        the model decides what to look up first, and whether to
    READ_ROWS:     the planned table query has run: answer from its rows, or search after all
    READ_PASSAGES: a search has run: answer from the passages it found
    """

    LOOK_UP = auto()
    DECIDE = auto()
    READ_ROWS = auto()
    READ_PASSAGES = auto()


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
class Dialogue:
    """What a chat model's calls in one turn hand on to each other.

    rounds:         each message of the model that called tools, and how many results came before its own; None in place of a message
                    for what the agent looked up by itself in between
    context_tokens: room for passages; 0 until the first message, less after the model refused a longer one
    blind:          the model took no picture, so none is sent
    tokens:         sent to and got from the model so far, for the turn's budget
    summary:        of the thread's oldest messages, when this turn had one made
    profile:        how the model is asked in this turn; None until it is first asked
    away:           why it is not asked any more; empty while it is
    last:           whether it must answer now, as it only repeats its calls
    searched:       whether the agent has searched because the model had not
    has_tables:     whether there is a table in scope; None until somebody looked
    passage_tokens: those of the passages in the last request
    """

    writer: AnswerWriter | None = None
    rounds: list[tuple[ChatMessage | None, int]] = field(default_factory=list[tuple[ChatMessage | None, int]])
    context_tokens: int = 0
    blind: bool = False
    tokens: int = 0
    summary: ThreadSummary | None = None
    profile: ChatProfile | None = None
    away: str = ""
    last: bool = False
    searched: bool = False
    has_tables: bool | None = None
    passage_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Extracted:
    """The answer that rules give to a turn's question, and the state of the turn in which they found it."""

    draft: Draft
    turn: TurnState


@dataclass(slots=True)
class TurnState:
    """Lives as long as one turn; each step reads it and writes its own findings into it.

    emit:       hands an event to the reader of the turn's stream
    intent, rephrased, read: what the message wants, the message made standalone, and what the model says of it, as read at the start
    question:   the question to answer, and `queries` to search with: the message itself until it is rephrased
    calls:      tools to run next; `results` of all calls so far, in order
    table_plan: the table query planned by rules, or why there is none
    picture_plan: the query behind a picture that was asked for
    notices:    what failed in searches, each once, in order
    seen:       the numbers of the passages whose picture the model was shown
    corrected:  the message as it was meant, where words of it were misspelled; else empty
    reduced:    the question without the words that became filters, once a search has read them; else empty
    inferred:   the filters that searches for the question have inferred from it, by id
    stuffing:   counts what sending every file in scope whole would have taken
    said:       whether text of the answer was emitted that has not been withdrawn
    extracted:  the answer without the chat model, once it was needed
    recalled:   what earlier conversations of the person say, once they were searched
    """

    request: TurnRequest
    emit: Callable[[AgentEvent], None]
    tally: Tally = field(default_factory=Tally)
    started: float = field(default_factory=time.monotonic)
    intent: Intent = Intent("document_query", 0.0)
    rephrased: Rephrased | None = None
    read: MessageRead = MessageRead(acts={Act.ASK: 1.0})
    question: str = ""
    queries: tuple[str, ...] = ()
    stage: NextStep = NextStep.LOOK_UP
    table_plan: Planned | Refused | None = None
    picture_plan: PlannedPicture | None = None
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    book: SourceBook = field(default_factory=SourceBook)
    dialogue: Dialogue = field(default_factory=Dialogue)
    draft: Draft | None = None
    answer: Answer | None = None
    searches: int = 0
    notices: dict[str, None] = field(default_factory=dict[str, None])
    seen: set[int] = field(default_factory=set[int])
    corrected: str = ""
    reduced: str = ""
    inferred: dict[str, InferredFilter] = field(default_factory=dict[str, InferredFilter])
    stuffing: asyncio.Task[int | None] | None = None
    said: bool = False
    extracted: Extracted | None = None
    recalled: Recalled | None = None
    timings_ms: dict[str, float] = field(default_factory=dict[str, float])
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def __post_init__(self) -> None:
        give = self.emit

        def emit(event: AgentEvent) -> None:
            self.said = self.said or isinstance(event, TextDelta)
            give(event)

        self.emit = emit

    def restart(self) -> None:
        """Withdraw what was emitted of the answer's text."""
        if self.said:
            self.said = False
            self.emit(TextRestarted())

    def say(self, text: str) -> None:
        """Emit a piece of the answer's text."""
        self.emit(TextDelta(text))

    @property
    def sought(self) -> str:
        """What the passages found have to answer: the question, without the words that only say which files to look in."""
        return self.reduced or self.question

    @contextmanager
    def timed(self, step: str) -> Generator[None]:
        """Add the time of the block to the step's milliseconds."""
        begin = time.perf_counter()
        try:
            with span(f"answer {step}"):
                yield
        finally:
            spent = (time.perf_counter() - begin) * 1000
            self.timings_ms[step] = round(self.timings_ms.get(step, 0.0) + spent, 2)

    def note(self, key: str, value: JsonValue) -> None:
        """Add a detail to the trace."""
        self.details[key] = value

    def append(self, key: str, value: Mapping[str, JsonValue]) -> None:
        """Add an entry to a list in the trace."""
        known = self.details.get(key)
        self.details[key] = [*(known if isinstance(known, list) else []), value]

    def show_prompt(self, purpose: str, messages: Sequence[ChatMessage]) -> None:
        """Add what a chat model is sent to the trace, when the request asks for it."""
        if self.request.options.debug:
            self.append("prompts", {"purpose": purpose, "messages": [_shown(message) for message in messages]})


def _shown(message: ChatMessage) -> dict[str, JsonValue]:
    return {
        "role": message.role,
        "content": message.content,
        "sources": [f"[{source.n}] {source.title}" for source in message.sources],
        "tool_calls": [f"{call.name}({dict(call.arguments)})" for call in message.tool_calls],
    }
