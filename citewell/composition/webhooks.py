"""Webhooks: what owners register, who sends, and what other programs may have done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from citewell.adapters.webhook.guarded import GuardedSender
from citewell.agent.interface import Done, Failed
from citewell.errors import Forbidden, NotFound, Unavailable, from_code
from citewell.features.chat.service import ChatRequest, ChatService, Turn
from citewell.features.resources.said import Said
from citewell.features.resources.service import ResourceService
from citewell.features.triggers.service import TriggerService
from citewell.features.webhooks.delivery import DeliveryRunner
from citewell.features.webhooks.service import WebhookService
from citewell.settings import Settings
from citewell.storage.channels.triggers import TriggerRepository
from citewell.storage.channels.webhooks import DeliveryRepository, WebhookRepository
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.types import Answer, JsonObject, JsonValue

_ELSEWHERE = "This file is in other projects than that of this trigger too, so only its owner may change it."


def webhook_service(settings: Settings, database: Database, runner: DeliveryRunner) -> WebhookService:
    """What owners register."""
    private = settings.webhooks.private_addresses
    return WebhookService(repository=WebhookRepository(database), private=private, wake=runner.wake)


async def delivery_runner(settings: Settings, database: Database, name: str) -> DeliveryRunner:
    """Who sends; leases that a process before this one has left are ended where only one process sends."""
    queue = DeliveryRepository(database)
    if database.is_sqlite:
        await queue.release()
    sender = GuardedSender(private=settings.webhooks.private_addresses)
    return DeliveryRunner(name=name, queue=queue, sender=sender)


async def trigger_service(
    database: Database,
    projects: ProjectRepository,
    resources: ResourceService,
    chat: ChatService,
    admit: Callable[[str], Awaitable[None]],
) -> TriggerService:
    """What other programs may have done. Calls that a process before this one has left are forgotten where only one process serves."""
    triggers = TriggerRepository(database)
    if database.is_sqlite:
        await triggers.abandon()

    async def add_records(owner_id: str, records: Sequence[Mapping[str, Any]], project: str | None) -> JsonObject:
        done = await resources.add_records(owner_id, records, project, is_kept_to_it=project is not None)
        counts = {"added": done.added, "replaced": done.replaced, "unchanged": done.unchanged}
        return {"resource_ids": list(done.resource_ids), **counts}

    async def describe(
        owner_id: str, resource_id: str, metadata: Mapping[str, JsonValue], project: str | None
    ) -> JsonObject:
        if project is not None:
            within = await projects.resolve(owner_id, project)
            inside = (await resources.repository.get(owner_id, resource_id)).project_ids
            if within not in inside:
                raise NotFound("There is no such resource in the project of this trigger.")
            if len(inside) > 1:
                raise Forbidden(_ELSEWHERE)
        resource = await resources.describe(owner_id, resource_id, Said(metadata=metadata))
        return {"resource_id": resource.id, "metadata": dict(resource.metadata)}

    async def ask(owner_id: str, message: str, thread_id: str | None, project: str | None) -> JsonObject:
        within = None if project is None else (project,)
        turn = await chat.begin(ChatRequest(owner_id=owner_id, message=message, thread_id=thread_id, projects=within))
        async with aclosing(turn.events) as events:
            async for event in events:
                if isinstance(event, Failed):
                    raise from_code(event.code, event.message, event.details)
                if isinstance(event, Done):
                    return _answered(turn, event.answer)
        raise Unavailable("The answer ended before it was complete. Ask again.")

    return TriggerService(repository=triggers, add_records=add_records, describe=describe, ask=ask, admit=admit)


def _answered(turn: Turn, answer: Answer) -> JsonObject:
    return {
        "answer": answer.text,
        "answered": answer.answered,
        "citations": [citation.to_json() for citation in answer.citations],
        "thread_id": turn.thread.id,
        "message_id": turn.message_id,
    }
