"""A turn of a conversation: its thread, the agent's events, and what is stored."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from citewell.agent.citations.claims import strip_markers
from citewell.agent.interface import (
    AgentEvent,
    Done,
    Failed,
    Remembers,
    TextDelta,
    TextRestarted,
    ThreadSummary,
    TurnRequest,
)
from citewell.errors import InvalidInput, NotFound
from citewell.features.chat.repeated import Asked, RepeatedAnswers, again
from citewell.features.detached import DetachedTurns
from citewell.features.turns import TurnRunner, checked_text, past_message, past_scope, scope_json, title_of
from citewell.filters.language import inferred_to_json
from citewell.indexes.index_set import IndexSet
from citewell.retrieve.conversations import ConversationSearch
from citewell.retrieve.options import RetrievalOptions
from citewell.retrieve.reranking import NO_RERANKER
from citewell.storage.conversations.threads import ThreadRepository
from citewell.types import (
    Answer,
    EventType,
    Expression,
    JsonObject,
    JsonValue,
    Message,
    OutgoingEvent,
    Scope,
    SearchOptions,
    Thread,
)

_HISTORY = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A message in a thread (a new one if `thread_id` is None), with its scope. files_of: the owner of the files, if not the asker.

    kept_to: the projects that the asker is limited to (names by id); None for all of those files.
    repeats: give the earlier answer to an equal question again, if its files are unchanged.
    """

    owner_id: str
    message: str
    files_of: str | None = None
    kept_to: Mapping[str, str] | None = None
    thread_id: str | None = None
    projects: tuple[str, ...] | None = None
    resource_ids: tuple[str, ...] | None = None
    filters: tuple[Expression, ...] = ()
    options: SearchOptions = SearchOptions()
    references: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn about to run: its thread, the agent's events, and the index's notice."""

    thread: Thread
    message_id: str
    events: AsyncGenerator[AgentEvent]
    notice: str | None = None

    def noted(self, done: Done) -> str | None:
        """A notice for the answer: about the index, and about anything that failed on the way."""
        return " ".join(filter(None, (self.notice, done.notice))) or None


@dataclass(frozen=True, slots=True)
class _Begun:
    """A turn whose question is recorded. known_as: how its answer is kept and found again; None for one that is not."""

    turn: TurnRequest
    asker: str
    asked: Message
    message_id: str
    past: Sequence[Message]
    known_as: Asked | None
    repeats: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatService:
    """Runs the turns of threads, and stores questions and answers.

    indexes:       the open indexes, for their `notice`
    options:       defaults for searches
    model_problem: why the configured chat model cannot be used; None if it can
    memory:        earlier conversations, for those who let them be searched
    repeated:      gives answers again to equal questions; None if that is turned off
    """

    turns: TurnRunner
    threads: ThreadRepository
    indexes: IndexSet
    can_rerank: bool = False
    options: RetrievalOptions = RetrievalOptions()
    model_problem: str | None = None
    detached: DetachedTurns = field(default_factory=DetachedTurns)
    memory: ConversationSearch | None = None
    repeated: RepeatedAnswers | None = None

    async def prepare(self) -> None:
        """Load what the first turn would wait for."""
        await self.turns.prepare()

    async def begin(self, request: ChatRequest) -> Turn:
        """Check the request and record the question. Raises before anything is streamed, also if the asker's quota is used up."""
        text = checked_text(request.message)
        options = request.options
        if options.rerank and not self.can_rerank:
            raise InvalidInput(NO_RERANKER)
        self.options.overridden_by(options)
        if options.indexes is not None:
            self.indexes.named(options.indexes)
        files_of = request.files_of or request.owner_id
        kept_to = None if request.kept_to is None else tuple(request.kept_to)
        scope = await self.turns.scope(
            files_of, request.projects, request.resource_ids, request.filters, kept_to=kept_to
        )
        known = None if request.thread_id is None else await self.threads.get(request.owner_id, request.thread_id)
        await self.turns.admit(request.owner_id)
        thread = known or await self._begun(request, text, scope)
        history: list[Message] = []
        if known is not None:
            history = await self.threads.messages(request.owner_id, thread.id, last=_HISTORY)
        past = [message for message in history if message.content]
        details: dict[str, JsonValue] = {"scope": scope_json(scope)}
        if ignored := options.ignore_inferred:
            details["ignore_inferred"] = ignored if isinstance(ignored, bool) else list(ignored)
        asked = await self.threads.append(request.owner_id, thread.id, "user", text, details=details)
        turn = TurnRequest(
            owner_id=files_of,
            message=text,
            history=tuple(map(past_message, past)),
            scope=scope,
            kept_to=request.kept_to,
            top_k=self.turns.top_k,
            options=options,
            references=request.references,
            summary=_summary(past),
            remembers=await self._remembers(request.owner_id, thread.id),
        )
        known_as = None
        if self.repeated is not None:
            known_as = await self.repeated.asked(request.owner_id, turn, await self.turns.chat_model())
        message_id = str(uuid.uuid4())
        return Turn(
            thread=thread,
            message_id=message_id,
            events=self._run(_Begun(turn, request.owner_id, asked, message_id, past, known_as, request.repeats)),
            notice=" ".join(filter(None, (self.indexes.notice, self._without_model()))) or None,
        )

    def detach(self, owner_id: str, turn: Turn) -> Turn:
        """The turn, which from its first event on reaches its end whether or not its events are read."""
        return replace(turn, events=self.detached.events(owner_id, turn.thread.id, turn.events))

    async def finish(self) -> None:
        """End detached turns, and wait until they and abandoned ones are stored: what was written, and its cost."""
        await self.detached.close()
        await self.turns.finish()

    def _without_model(self) -> str | None:
        problem = self.model_problem
        return problem and f"The answer is extracted from your files, without the chat model: {problem}"

    async def _remembers(self, owner_id: str, thread_id: str) -> Remembers | None:
        on = self.memory is not None and await self.memory.is_on(owner_id)
        return Remembers(owner_id, thread_id) if on else None

    async def _events(self, begun: _Begun) -> AsyncGenerator[AgentEvent]:
        """The events of an earlier answer to an equal question, or else of the agent."""
        if self.repeated is not None and begun.known_as is not None and begun.repeats:
            found = await self.repeated.find(begun.known_as)
            if found is not None:
                async for event in again(begun.turn, *found):
                    yield event
                return
        events = self.turns.run(begun.turn, begun.asked.thread_id, begun.message_id, begun.asker)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _run(self, begun: _Begun) -> AsyncGenerator[AgentEvent]:
        turn, asker, asked, message_id = begun.turn, begun.asker, begun.asked, begun.message_id
        thread_id, written, ended = asked.thread_id, "", False
        try:
            async with aclosing(self._events(begun)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        written += event.text
                    elif isinstance(event, TextRestarted):
                        written = ""
                    elif isinstance(event, Done):
                        event = replace(event, answer=replace(event.answer, thread_id=thread_id))
                        await self._keep(turn, asker, asked, message_id, event, begun.past)
                        await self._remember(begun, event)
                        ended = True
                    elif isinstance(event, Failed):
                        details: JsonObject = {"error": {"code": event.code, "message": event.message}}
                        await self.threads.append(asker, thread_id, "assistant", "", (), details, message_id)
                        ended = True
                    yield event
        finally:
            if written and not ended:
                self.turns.later(self._keep_partial(turn, asker, asked, message_id, written))

    async def _remember(self, begun: _Begun, done: Done) -> None:
        """Let the answer be found again: by an equal question, and by those who let earlier conversations be searched."""
        if self.repeated is not None and begun.known_as is not None and done.answer.answered_before is None:
            await self.repeated.keep(begun.known_as, begun.message_id, done)
        if self.memory is not None and begun.turn.remembers is not None:
            self.turns.later(self.memory.index(begun.asker))

    async def _keep_partial(self, turn: TurnRequest, asker: str, asked: Message, message_id: str, written: str) -> None:
        """Store what had been said when the reader left, unless the question or thread was deleted since."""
        details: JsonObject = {"stopped": True, "scope": scope_json(turn.scope)}
        # Its citations were not checked.
        text = strip_markers(written)
        with contextlib.suppress(NotFound):
            newest = await self.threads.messages(asker, asked.thread_id, last=1)
            if newest and newest[-1].id == asked.id:
                await self.threads.append(asker, asked.thread_id, "assistant", text, (), details, message_id)

    async def _keep(
        self, turn: TurnRequest, asker: str, asked: Message, message_id: str, done: Done, past: Sequence[Message]
    ) -> None:
        answer = done.answer
        details: dict[str, JsonValue] = {
            "intent": answer.intent,
            "answered": answer.answered,
            "scope": scope_json(turn.scope),
            "usage": done.usage.to_json(),
        }
        if answer.no_answer is not None:
            details["no_answer"] = answer.no_answer.to_json()
        if notice := " ".join(filter(None, (self._without_model(), done.notice))):
            details["notice"] = notice
        if done.nearest:
            details["nearest"] = [source.hit.place() for source in done.nearest]
        if answer.inferred_filters:
            details["inferred_filters"] = [inferred_to_json(one) for one in answer.inferred_filters]
        if answer.confidence is not None:
            details["confidence"] = answer.confidence
        if answer.remembered:
            details["quotes_conversations"] = True
        if answer.answered_before is not None:
            details["answered_before"] = answer.answered_before.to_json()
        if answer.picture is not None:
            details["picture"] = answer.picture
        if done.summary is not None:
            until = past[done.summary.covers - 1].id
            details["summary"] = {"text": done.summary.text, "until": until, "scope": scope_json(done.summary.scope)}
        event = _completed(turn, asked.thread_id, message_id, answer)
        await self.threads.append(
            asker,
            asked.thread_id,
            "assistant",
            answer.text,
            answer.citations,
            details,
            message_id,
            event,
            answer.remembered,
        )

    async def _begun(self, request: ChatRequest, text: str, scope: Scope) -> Thread:
        return await self.threads.create(request.owner_id, title_of(text), scope_json(scope))


def _completed(turn: TurnRequest, thread_id: str, message_id: str, answer: Answer) -> OutgoingEvent:
    data: JsonObject = {
        "message_id": message_id,
        "thread_id": thread_id,
        "question": turn.message,
        "answer": answer.text,
        "answered": answer.answered,
        "intent": answer.intent,
        "citations": [citation.to_json() for citation in answer.citations],
    }
    return OutgoingEvent(type=EventType.ANSWER_COMPLETED, key=message_id, data=data, about=message_id)


def _summary(past: Sequence[Message]) -> ThreadSummary | None:
    """The newest summary stored by a turn, and how many of the given messages it covers."""
    places = {message.id: place for place, message in enumerate(past)}
    for message in reversed(past):
        kept = message.details.get("summary")
        if isinstance(kept, dict):
            return ThreadSummary(
                str(kept["text"]), places.get(str(kept["until"]), -1) + 1, past_scope(kept.get("scope"))
            )
    return None
