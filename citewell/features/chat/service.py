"""A turn of a conversation: the thread before it, the agent's events, and what is kept of it."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from citewell.agent.citations.claims import strip_markers
from citewell.agent.graph import Assistant
from citewell.agent.interface import AgentEvent, Done, Failed, PastMessage, TextDelta, ThreadSummary, TurnRequest
from citewell.errors import EmptyQuery, InvalidInput, NotFound
from citewell.features.chat.schemas import place
from citewell.features.usage.service import Ledger
from citewell.metering import Tally
from citewell.retrieve.reranking import NO_RERANKER
from citewell.storage.projects import ProjectRepository
from citewell.storage.resources import ResourceRepository
from citewell.storage.threads import ThreadRepository
from citewell.types import JsonObject, JsonValue, Message, Scope, Thread

MOST_CHARACTERS = 32_000
_HISTORY = 60
_TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A message in a thread (a new one when `thread_id` is None), with its scope."""

    owner_id: str
    message: str
    thread_id: str | None = None
    project: str | None = None
    resource_ids: tuple[str, ...] | None = None
    top_k: int | None = None
    rerank: bool | None = None
    references: bool = False
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn about to run: the thread it belongs to, and the agent's events."""

    thread: Thread
    message_id: str
    events: AsyncGenerator[AgentEvent]


@dataclass(slots=True)
class ChatService:
    """Runs turns. Nothing holds a database connection while the agent works.

    top_k: passages for an answer; compare_model: whose price context stuffing is compared at where no chat model is configured.
    """

    assistant: Assistant
    threads: ThreadRepository
    projects: ProjectRepository
    resources: ResourceRepository
    ledger: Ledger
    top_k: int = 10
    compare_model: str = ""
    can_rerank: bool = False
    _entries: set[asyncio.Task[object]] = field(default_factory=set[asyncio.Task[object]])

    async def begin(self, request: ChatRequest) -> Turn:
        """Check the request and record the question; raises before anything is streamed."""
        text = checked_text(request.message)
        if request.rerank and not self.can_rerank:
            raise InvalidInput(NO_RERANKER)
        scope = await self.scope(request.owner_id, request.project, request.resource_ids)
        thread = await self._thread(request, text, scope)
        history: list[Message] = []
        if request.thread_id is not None:
            history = await self.threads.messages(request.owner_id, thread.id, last=_HISTORY)
        past = [message for message in history if message.content]
        details: JsonObject = {"scope": _scope_json(scope)}
        asked = await self.threads.append(request.owner_id, thread.id, "user", text, details=details)
        turn = TurnRequest(
            owner_id=request.owner_id,
            message=text,
            history=tuple(PastMessage(m.role, m.content, _past_scope(m.details.get("scope"))) for m in past),
            scope=scope,
            top_k=request.top_k or self.top_k,
            rerank=request.rerank,
            references=request.references,
            debug=request.debug,
            summary=_summary(past),
        )
        message_id = str(uuid.uuid4())
        return Turn(thread, message_id, self._run(turn, asked, message_id, past))

    async def without_thread(self, turn: TurnRequest) -> AsyncGenerator[AgentEvent]:
        """The events of a turn whose thread the caller keeps; only what it cost is recorded."""
        async with self._events(turn, None, None) as events:
            async for event in events:
                yield await self._priced(turn.owner_id, event, None, None) if isinstance(event, Done) else event

    async def scope(self, owner_id: str, project: str | None, resource_ids: tuple[str, ...] | None) -> Scope:
        """The scope, checked: an unknown project or resource is `NotFound` rather than an empty answer."""
        for resource_id in resource_ids or ():
            await self.resources.get(owner_id, resource_id)
        project_id = await self.projects.resolve(owner_id, project) if project else None
        return Scope(project_id=project_id, resource_ids=resource_ids)

    async def _run(
        self, turn: TurnRequest, asked: Message, message_id: str, past: Sequence[Message]
    ) -> AsyncGenerator[AgentEvent]:
        thread_id, written, ended = asked.thread_id, "", False
        try:
            async with self._events(turn, thread_id, message_id) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        written += event.text
                    elif isinstance(event, Done):
                        event = await self._priced(turn.owner_id, event, thread_id, message_id)
                        event = replace(event, answer=replace(event.answer, thread_id=thread_id))
                        await self._keep(turn, thread_id, message_id, event, past)
                        ended = True
                    elif isinstance(event, Failed):
                        details: JsonObject = {"error": {"code": event.code, "message": event.message}}
                        await self.threads.append(turn.owner_id, thread_id, "assistant", "", (), details, message_id)
                        ended = True
                    yield event
        finally:
            if written and not ended:
                self._later(self._keep_partial(turn, asked, message_id, written))

    async def _keep_partial(self, turn: TurnRequest, asked: Message, message_id: str, written: str) -> None:
        """What had been said when the reader left, unless the question was taken back or the thread deleted since."""
        details: JsonObject = {"stopped": True, "scope": _scope_json(turn.scope)}
        # What its citations would have been was not checked any more.
        text = strip_markers(written)
        with contextlib.suppress(NotFound):
            newest = await self.threads.messages(turn.owner_id, asked.thread_id, last=1)
            if newest and newest[-1].id == asked.id:
                await self.threads.append(turn.owner_id, asked.thread_id, "assistant", text, (), details, message_id)

    def _later(self, work: Coroutine[Any, Any, object]) -> None:
        """Do what nobody waits for any more."""
        entry = asyncio.create_task(work)
        self._entries.add(entry)
        entry.add_done_callback(self._entries.discard)

    @asynccontextmanager
    async def _events(
        self, turn: TurnRequest, thread_id: str | None, message_id: str | None
    ) -> AsyncGenerator[AsyncGenerator[AgentEvent]]:
        """The agent's events. A turn that fails, or is left in the middle, is entered in the ledger all the same."""
        tally, ended = Tally(), False

        async def watched() -> AsyncGenerator[AgentEvent]:
            nonlocal ended
            async with aclosing(self.assistant.run(turn, tally)) as events:
                async for event in events:
                    ended = isinstance(event, Done)
                    yield event

        try:
            async with aclosing(watched()) as events:
                yield events
        finally:
            if not ended and tally.spent:
                self._later(self.ledger.record(turn.owner_id, tally.spent, thread_id, message_id))

    async def _keep(
        self, turn: TurnRequest, thread_id: str, message_id: str, done: Done, past: Sequence[Message]
    ) -> None:
        answer = done.answer
        details: dict[str, JsonValue] = {
            "intent": answer.intent,
            "answered": answer.answered,
            "scope": _scope_json(turn.scope),
            "usage": done.usage.to_json(),
        }
        if done.nearest:
            details["nearest"] = [place(source).model_dump() for source in done.nearest]
        if done.summary is not None:
            until = past[done.summary.covers - 1].id
            details["summary"] = {"text": done.summary.text, "until": until, "scope": _scope_json(done.summary.scope)}
        await self.threads.append(
            turn.owner_id, thread_id, "assistant", answer.text, answer.citations, details, message_id
        )

    async def _priced(self, owner_id: str, done: Done, thread_id: str | None, message_id: str | None) -> Done:
        """The end of the turn with its cost, which is recorded."""
        used = done.usage
        entries = used.spent
        if used.stuffing is not None:
            entries += (replace(used.stuffing, model=used.stuffing.model or self.compare_model),)
        priced = await self.ledger.record(owner_id, entries, thread_id, message_id)
        spent = priced[: len(used.spent)]
        stuffing = priced[-1] if used.stuffing is not None else None
        return replace(done, usage=replace(used, spent=spent, stuffing=stuffing))

    async def _thread(self, request: ChatRequest, text: str, scope: Scope) -> Thread:
        if request.thread_id is not None:
            return await self.threads.get(request.owner_id, request.thread_id)
        title = " ".join(text.split())
        title = title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1] + "…"
        return await self.threads.create(request.owner_id, title, _scope_json(scope))


def checked_text(message: str) -> str:
    """The message without null characters; raises `EmptyQuery`, or `InvalidInput` when it is too long."""
    text = message.replace("\x00", "")
    if not text.strip():
        raise EmptyQuery("The message is empty. Write a question.")
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(f"The message is longer than {MOST_CHARACTERS:,} characters.")
    return text


def _summary(past: Sequence[Message]) -> ThreadSummary | None:
    """The newest summary that a turn has left, and how many of the messages in view it covers."""
    places = {message.id: place for place, message in enumerate(past)}
    for message in reversed(past):
        kept = message.details.get("summary")
        if isinstance(kept, dict):
            return ThreadSummary(
                str(kept["text"]), places.get(str(kept["until"]), -1) + 1, _past_scope(kept.get("scope"))
            )
    return None


def _scope_json(scope: Scope) -> JsonObject:
    out: dict[str, str | list[str]] = {}
    if scope.project_id is not None:
        out["project"] = scope.project_id
    if scope.resource_ids is not None:
        out["resource_ids"] = list(scope.resource_ids)
    return out


def _past_scope(scope: object) -> Scope:
    if not isinstance(scope, dict):
        return Scope()
    ids = scope.get("resource_ids")
    return Scope(scope.get("project"), tuple(ids) if ids is not None else None)
