"""A turn of a conversation: the thread before it, the agent's events, and what is kept of it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from citewell.agent.graph import Assistant
from citewell.agent.turns import AgentEvent, Done, Failed, PastMessage, Scope, TurnRequest
from citewell.errors import EmptyQuery, InvalidInput
from citewell.storage.projects import ProjectRepository
from citewell.storage.resources import ResourceRepository
from citewell.storage.threads import ThreadRepository
from citewell.storage.usage import UsageRepository
from citewell.types import JsonObject, Message, Thread, Usage

_MOST_CHARACTERS = 32_000
_HISTORY = 20
_TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A message in a thread (a new one when `thread_id` is None), with its scope."""

    owner_id: str
    message: str
    thread_id: str | None = None
    project: str | None = None
    resource_ids: tuple[str, ...] | None = None
    top_k: int = 10
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
    """Runs turns. Nothing holds a database connection while the agent works."""

    assistant: Assistant
    threads: ThreadRepository
    projects: ProjectRepository
    resources: ResourceRepository
    usage: UsageRepository
    prices: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    async def begin(self, request: ChatRequest) -> Turn:
        """Check the request and record the question; raises before anything is streamed."""
        text = request.message.replace("\x00", "")
        if not text.strip():
            raise EmptyQuery("The message is empty. Write a question.")
        if len(text) > _MOST_CHARACTERS:
            raise InvalidInput(f"The message is longer than {_MOST_CHARACTERS:,} characters.")
        scope = await self._scope(request)
        thread = await self._thread(request, text, scope)
        history = await self.threads.messages(request.owner_id, thread.id, last=_HISTORY)
        details: JsonObject = {"scope": _scope_json(scope)}
        await self.threads.append(request.owner_id, thread.id, "user", text, details=details)
        turn = TurnRequest(
            owner_id=request.owner_id,
            message=text,
            history=_past(history),
            scope=scope,
            top_k=request.top_k,
            references=request.references,
            debug=request.debug,
        )
        message_id = str(uuid.uuid4())
        return Turn(thread, message_id, self._run(turn, thread, message_id))

    async def _run(self, turn: TurnRequest, thread: Thread, message_id: str) -> AsyncGenerator[AgentEvent]:
        async for event in self.assistant.run(turn):
            if isinstance(event, Done):
                await self._keep(turn, thread, message_id, event)
            elif isinstance(event, Failed):
                details: JsonObject = {"error": {"code": event.code, "message": event.message}}
                await self.threads.append(turn.owner_id, thread.id, "assistant", "", (), details, message_id)
            yield event

    async def _keep(self, turn: TurnRequest, thread: Thread, message_id: str, done: Done) -> None:
        answer, used = done.answer, done.usage
        details: JsonObject = {
            "intent": answer.intent,
            "answered": answer.answered,
            "scope": _scope_json(turn.scope),
            "usage": used.to_json(),
        }
        await self.threads.append(
            turn.owner_id, thread.id, "assistant", answer.text, answer.citations, details, message_id
        )
        entries = [Usage(owner_id=turn.owner_id, kind="embedding", provider="", model="", units=used.embedded_texts)]
        if used.calls:
            entry = Usage(
                owner_id=turn.owner_id,
                kind="chat",
                provider="",
                model=used.model,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                units=used.calls,
                cost=self._cost(used.model, used.input_tokens, used.output_tokens),
            )
            entries.append(entry)
        await self.usage.add(
            [_placed(entry, thread.id, message_id) for entry in entries if entry.units or entry.input_tokens]
        )

    def _cost(self, model: str, input_tokens: int, output_tokens: int) -> float:
        per_million = self.prices.get(model, (0.0, 0.0))
        return (input_tokens * per_million[0] + output_tokens * per_million[1]) / 1_000_000

    async def _scope(self, request: ChatRequest) -> Scope:
        """The scope, checked: an unknown project or resource is `NotFound` rather than an empty answer."""
        for resource_id in request.resource_ids or ():
            await self.resources.get(request.owner_id, resource_id)
        project = await self.projects.resolve(request.owner_id, request.project) if request.project else None
        return Scope(project_id=project, resource_ids=request.resource_ids)

    async def _thread(self, request: ChatRequest, text: str, scope: Scope) -> Thread:
        if request.thread_id is not None:
            return await self.threads.get(request.owner_id, request.thread_id)
        title = " ".join(text.split())
        title = title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1] + "…"
        return await self.threads.create(request.owner_id, title, _scope_json(scope))


def _placed(entry: Usage, thread_id: str, message_id: str) -> Usage:
    return Usage(
        owner_id=entry.owner_id,
        kind=entry.kind,
        provider=entry.provider,
        model=entry.model,
        input_tokens=entry.input_tokens,
        output_tokens=entry.output_tokens,
        units=entry.units,
        cost=entry.cost,
        thread_id=thread_id,
        message_id=message_id,
    )


def _scope_json(scope: Scope) -> JsonObject:
    out: dict[str, str | list[str]] = {}
    if scope.project_id is not None:
        out["project"] = scope.project_id
    if scope.resource_ids is not None:
        out["resource_ids"] = list(scope.resource_ids)
    return out


def _past(messages: Sequence[Message]) -> tuple[PastMessage, ...]:
    return tuple(
        PastMessage(message.role, message.content, _past_scope(message.details.get("scope")))
        for message in messages
        if message.content
    )


def _past_scope(scope: object) -> Scope:
    if not isinstance(scope, dict):
        return Scope()
    ids = scope.get("resource_ids")
    return Scope(scope.get("project"), tuple(ids) if ids is not None else None)
