"""Runs turns for every protocol: checks their scope, and records their cost however they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from citewell.agent.interface import AgentEvent, Done, PastMessage, TurnRequest
from citewell.errors import EmptyQuery, InvalidInput
from citewell.features.usage.service import Ledger
from citewell.filters.language import parse_filters, to_json
from citewell.ports.metering import Tally
from citewell.storage.files.metadata import MetadataRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.system.shares import Shares
from citewell.types import Expression, JsonObject, JsonValue, Message, Scope

if TYPE_CHECKING:
    from citewell.agent.graph import Assistant

MAX_CHARACTERS = 32_000
RESTART = "\n\n---\n\n"
"""Between an answer that was withdrawn and the one that holds, where a stream takes nothing back; the answer itself has the latter alone."""
_TITLE_CHARACTERS = 80
_AT_ONCE = 64


class LateAssistant:
    """An assistant created on first use, in a thread: loading its modules takes a tenth of the server's start."""

    def __init__(self, make: Callable[[], Assistant]) -> None:
        self._make = make
        self._made: Assistant | None = None
        self._making = asyncio.Lock()

    async def get(self) -> Assistant:
        """The shared assistant; callers wait while it is being created."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
            return self._made


@dataclass(slots=True)
class Answering:
    """Holds the assistant for new turns; running turns keep the assistant they started with."""

    assistant: LateAssistant

    def hand_over(self, assistant: LateAssistant) -> None:
        """Use this assistant for turns that start from now on."""
        self.assistant = assistant


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRunner:
    """Runs turns. Nothing holds a database connection while the agent works.

    Each question is admitted before its turn runs, in every protocol.

    shares: how many answers of one owner are written at once
    top_k: passages for an answer; compare_model: the model whose price is used for context stuffing if no chat model is configured
    """

    answering: Answering
    projects: ProjectRepository
    metadata: MetadataRepository
    ledger: Ledger
    quotas: QuotaRepository
    shares: Shares = field(default_factory=lambda: Shares("answers", each=_AT_ONCE))
    top_k: int = 10
    compare_model: str = ""
    _tasks: set[asyncio.Task[object]] = field(default_factory=set[asyncio.Task[object]])

    async def prepare(self) -> None:
        """Load what the first turn would wait for; a turn that starts meanwhile waits for it too."""
        await (await self.answering.assistant.get()).prepare()

    async def chat_model(self) -> str:
        """The name of the chat model that answers; empty without one."""
        return (await self.answering.assistant.get()).chat_model

    async def scope(
        self,
        owner_id: str,
        projects: Sequence[str] | None,
        resource_ids: Sequence[str] | None,
        filters: tuple[Expression, ...] = (),
        *,
        kept_to: Sequence[str] | None = None,
    ) -> Scope:
        """The validated scope, from projects by id or name and files by id or identifier. Raises `NotFound` for an unknown one, rather than giving an empty answer.

        filters: choose among these files; raises `InvalidFilter` for one that does not apply to files. kept_to: see `MetadataRepository.require_keys`.
        """
        project_ids = None if projects is None else await self.projects.resolve_all(owner_id, projects)
        named = None if resource_ids is None else await self.metadata.resolve(owner_id, resource_ids, project_ids)
        scope = Scope(project_ids=project_ids, resource_ids=named)
        return await self.metadata.narrowed(owner_id, scope, filters, kept_to) if filters else scope

    async def admit(self, owner_id: str) -> None:
        """Count an owner's question. Raises `QuestionsQuotaReached` or `SpendQuotaReached`, and then it must not be answered."""
        await self.quotas.require_spend(owner_id)
        await self.quotas.count_question(owner_id)

    async def run(
        self, turn: TurnRequest, thread_id: str | None = None, message_id: str | None = None, asker: str | None = None
    ) -> AsyncGenerator[AgentEvent]:
        """The agent's events. A turn that fails or is abandoned is still recorded in the ledger.

        asker: who pays, if the files are another owner's
        """
        payer = asker or turn.owner_id
        tally, ended = Tally(payer), False
        assistant = await self.answering.assistant.get()
        try:
            async with aclosing(assistant.run(turn, tally)) as events:
                async for event in events:
                    ended = isinstance(event, Done)
                    if isinstance(event, Done):
                        event = await self._priced(payer, event, thread_id, message_id)
                    yield event
        finally:
            if not ended and tally.spent:
                self.later(self.ledger.record(payer, tally.spent, thread_id, message_id))

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Run work in the background, such as recording a turn whose reader has left."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait for background work."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _priced(self, owner_id: str, done: Done, thread_id: str | None, message_id: str | None) -> Done:
        """Record the turn's cost, and return its last event with it."""
        used = done.usage
        entries = used.spent
        if used.stuffing is not None:
            entries += (replace(used.stuffing, model=used.stuffing.model or self.compare_model),)
        priced = await self.ledger.record(owner_id, entries, thread_id, message_id)
        spent = priced[: len(used.spent)]
        stuffing = priced[-1] if used.stuffing is not None else None
        return replace(done, usage=replace(used, spent=spent, stuffing=stuffing))


def projects_named(project: str | None, projects: Iterable[str] | None) -> tuple[str, ...] | None:
    """The projects of a request that may name one or several; None if it names none."""
    if project is None and projects is None:
        return None
    return (*((project,) if project is not None else ()), *(projects or ()))


def checked_text(message: str) -> str:
    """The message without null characters. Raises `EmptyQuery`, or `InvalidInput` if it is too long."""
    text = message.replace("\x00", "")
    if not text.strip():
        raise EmptyQuery("The message is empty. Write a question.")
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"The message is longer than {MAX_CHARACTERS:,} characters.")
    return text


def title_of(message: str) -> str:
    """The title of a thread that begins with this message."""
    title = " ".join(message.split())
    return title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1] + "…"


def scope_json(scope: Scope) -> JsonObject:
    """A scope as it is stored with a message."""
    out: dict[str, JsonValue] = {}
    named = scope.tagged if scope.filters else scope.resource_ids
    if scope.project_ids is not None:
        one = len(scope.project_ids) == 1
        out |= {"project": scope.project_ids[0]} if one else {"projects": list(scope.project_ids)}
    if named is not None:
        out["resource_ids"] = list(named)
    if scope.filters:
        out["filters"] = [to_json(one) for one in scope.filters]
    return out


def past_message(message: Message) -> PastMessage:
    """A stored message, as the agent is given it."""
    quotes = bool(message.citations) and not any(one.is_of_table for one in message.citations)
    return PastMessage(message.role, message.content, past_scope(message.details.get("scope")), quotes)


def past_scope(scope: object) -> Scope:
    """The scope that was stored with a message."""
    if not isinstance(scope, dict):
        return Scope()
    ids, filters = scope.get("resource_ids"), parse_filters(scope.get("filters"))
    named = tuple(ids) if ids is not None else None
    projects = projects_named(scope.get("project"), scope.get("projects"))
    return Scope(projects, named, filters, named if filters else None)


def what_helps(done: Done) -> str:
    """Advice if there is no answer, appended to the text, because these clients show nothing else."""
    why = done.answer.no_answer
    return f" {why.hint}" if why is not None and why.hint else ""
