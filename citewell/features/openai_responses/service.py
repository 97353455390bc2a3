"""Runs a request of the Responses API as a turn of the agent; stored responses are answers in threads."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

from citewell.agent.interface import AgentEvent, Done, PastMessage, TurnRequest
from citewell.errors import InvalidInput, NotFound, UnknownModel
from citewell.features.openai_ids import FILE, RESPONSE, STORE, own_id
from citewell.features.turns import TurnRunner, checked_text, past_message, scope_json, title_of
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.types import Expression, JsonObject, Message

_PREFIX = "citewell/"
_MAX_HISTORY = 200
DETAILS = "response"
"""The part of an answer's details with the fields of its response."""

Role = Literal["system", "developer", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedResponse:
    """A request, read.

    messages: of the request, oldest first
    stores:   ids of vector stores to search; None without the tool `file_search`
    file_ids: files in the messages, which limit the search to them
    echoed:   the fields that the response repeats
    """

    model: str
    messages: Sequence[tuple[Role, str]]
    instructions: str = ""
    stores: tuple[str, ...] | None = None
    file_ids: tuple[str, ...] = ()
    filters: tuple[Expression, ...] = ()
    top_k: int | None = None
    previous: str | None = None
    is_stored: bool = True
    echoed: JsonObject


@dataclass(frozen=True, slots=True)
class _Past:
    """An earlier conversation: its thread, and its messages."""

    thread_id: str | None
    messages: tuple[PastMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """An answer in a thread, with its question."""

    question: Message
    answer: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseService:
    """Every method takes the owner first and sees only that owner's data."""

    turns: TurnRunner
    projects: ProjectRepository
    threads: ThreadRepository

    async def begin(self, owner_id: str, asked: AskedResponse) -> tuple[str, AsyncGenerator[AgentEvent]]:
        """The id of the answer, and the events of its turn; counts towards quotas. Raises before anything is streamed."""
        talk = [(role, text) for role, text in asked.messages if role in ("user", "assistant")]
        if not talk or talk[-1][0] != "user":
            raise InvalidInput("`input` must end with a message of the user.")
        message = checked_text(talk[-1][1])
        files = [own_id(FILE, one) for one in asked.file_ids] or None
        scope = await self.turns.scope(owner_id, await self._projects(owner_id, asked), files, asked.filters)
        past = await self._past(owner_id, asked.previous)
        await self.turns.admit(owner_id)
        said = [PastMessage("user" if role == "user" else "assistant", text, scope) for role, text in talk[:-1]]
        history = [one for one in (*past.messages, *said) if one.content.strip()]
        system = [text for role, text in asked.messages if role in ("system", "developer")]
        turn = TurnRequest(
            owner_id=owner_id,
            message=message,
            history=tuple(history[-_MAX_HISTORY:]),
            scope=scope,
            top_k=asked.top_k or self.turns.top_k,
            instructions="\n".join(filter(None, (asked.instructions, *system))),
        )
        message_id = str(uuid.uuid4())
        return message_id, self._run(turn, message_id, past, asked)

    async def stored(self, owner_id: str, response_id: str) -> StoredResponse:
        """A stored response. Raises `NotFound`."""
        wanted = own_id(RESPONSE, response_id)
        messages = await self.threads.messages(owner_id, await self.threads.thread_of(owner_id, wanted))
        place = next(place for place, one in enumerate(messages) if one.id == wanted)
        if place == 0:
            raise NotFound
        return StoredResponse(messages[place - 1], messages[place])

    async def delete(self, owner_id: str, response_id: str) -> None:
        """Delete a response with its question, and what followed it in the conversation."""
        found = await self.stored(owner_id, response_id)
        thread_id = found.answer.thread_id
        await self.threads.cut(owner_id, thread_id, found.question.id)
        if not await self.threads.messages(owner_id, thread_id, last=1):
            await self.threads.delete(owner_id, thread_id)

    async def _projects(self, owner_id: str, asked: AskedResponse) -> list[str] | None:
        """Of the vector stores, or of a model `citewell/NAME`; every other model has everything."""
        if asked.stores is not None:
            found = [own_id(STORE, one) for one in asked.stores]
            for one in found:
                await self.projects.settings(owner_id, one)
            return found
        if not asked.model.startswith(_PREFIX):
            return None
        try:
            return [await self.projects.resolve(owner_id, asked.model.removeprefix(_PREFIX))]
        except (NotFound, InvalidInput) as error:
            raise UnknownModel from error

    async def _past(self, owner_id: str, previous: str | None) -> _Past:
        if previous is None:
            return _Past(None)
        wanted = own_id(RESPONSE, previous)
        thread_id = await self.threads.thread_of(owner_id, wanted)
        messages = await self.threads.messages(owner_id, thread_id)
        until = next(place for place, one in enumerate(messages) if one.id == wanted) + 1
        past = [past_message(m) for m in messages[:until]]
        # A conversation that goes on from an earlier response is a thread of its own.
        return _Past(thread_id if until == len(messages) else None, tuple(past))

    async def _run(
        self, turn: TurnRequest, message_id: str, past: _Past, asked: AskedResponse
    ) -> AsyncGenerator[AgentEvent]:
        async with aclosing(self.turns.run(turn, message_id=message_id)) as events:
            async for event in events:
                if isinstance(event, Done) and asked.is_stored:
                    thread_id = await self._keep(turn, message_id, past, asked, event)
                    event = replace(event, answer=replace(event.answer, thread_id=thread_id))
                yield event

    async def _keep(self, turn: TurnRequest, message_id: str, past: _Past, asked: AskedResponse, done: Done) -> str:
        """Store the question and the answer; returns the thread."""
        owner, scope = turn.owner_id, scope_json(turn.scope)
        thread_id = past.thread_id
        if thread_id is None:
            earlier = past.messages or turn.history
            thread_id = (await self.threads.create(owner, title_of(turn.message), scope)).id
            for one in earlier:
                await self.threads.append(
                    owner, thread_id, one.role, one.content, details={"scope": scope_json(one.scope)}
                )
        await self.threads.append(owner, thread_id, "user", turn.message, details={"scope": scope})
        answer = done.answer
        details: JsonObject = {
            "intent": answer.intent,
            "answered": answer.answered,
            "scope": scope,
            "usage": done.usage.to_json(),
            DETAILS: asked.echoed,
        }
        await self.threads.append(owner, thread_id, "assistant", answer.text, answer.citations, details, message_id)
        return thread_id
