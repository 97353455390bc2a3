"""HTTP for webhooks: register, change, test and delete them; list deliveries, and resend them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from citewell.features.declared import ADMIN, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.webhooks.schemas import (
    AnswerEvent,
    ChunkEvent,
    DeliveryList,
    DeliveryOut,
    NewWebhook,
    Replayed,
    ResourceEvent,
    SyncEvent,
    WebhookChange,
    WebhookIn,
    WebhookList,
    WebhookOut,
)
from citewell.features.webhooks.service import WebhookService
from citewell.types import DeliveryState, EventType
from citewell.types.audit import AuditAction

router = Router(tags=["webhooks"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> WebhookService:
    return request.app.state.services.webhooks


@router.get("/webhooks", access=everything(ADMIN), operation_id="list_webhooks", summary="List webhooks")
async def list_webhooks(request: Request, owner: Owner) -> WebhookList:
    """Your webhooks, oldest first."""
    return WebhookList(
        webhooks=[WebhookOut.model_validate(one) for one in await _service(request).repository.all(owner)]
    )


@router.post(
    "/webhooks",
    access=everything(ADMIN),
    audit=changes(AuditAction.WEBHOOK_CREATED, answer="id"),
    status_code=201,
    operation_id="subscribe_webhook",
    summary="Subscribe to events",
)
async def create_webhook(request: Request, body: WebhookIn, owner: Owner, principal: CurrentPrincipal) -> NewWebhook:
    """Post events to an address (a REST hook for Zapier and Make). The response has the signing secret, shown only once."""
    events = None if body.events is None else [EventType(one) for one in body.events]
    webhook, secret = await _service(request).register(owner, body.url, events, body.description, principal.token_id)
    return NewWebhook(**WebhookOut.model_validate(webhook).model_dump(), secret=secret)


@router.get(
    "/webhooks/deliveries", access=everything(ADMIN), operation_id="list_webhook_deliveries", summary="List deliveries"
)
async def list_deliveries(
    request: Request,
    owner: Owner,
    state: Annotated[DeliveryState | None, Query(description="`dead`: given up after a day")] = None,
    webhook_id: Annotated[str | None, Query(max_length=36)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> DeliveryList:
    """Deliveries that were sent, are pending, or were given up, newest first."""
    found, following = await _service(request).repository.deliveries(owner, state, webhook_id, limit, cursor)
    return DeliveryList(deliveries=[DeliveryOut.model_validate(one) for one in found], next_cursor=following)


@router.get(
    "/webhooks/deliveries/{delivery_id}",
    access=everything(ADMIN),
    operation_id="get_webhook_delivery",
    summary="One delivery",
)
async def get_delivery(request: Request, delivery_id: str, owner: Owner) -> DeliveryOut:
    """The state of one delivery."""
    return DeliveryOut.model_validate(await _service(request).repository.delivery(owner, delivery_id))


@router.post(
    "/webhooks/deliveries/{delivery_id}/replay",
    access=everything(ADMIN),
    audit=changes(AuditAction.WEBHOOK_SENT, subject="delivery_id"),
    status_code=202,
    operation_id="replay_webhook_delivery",
    summary="Send a delivery again",
)
async def replay_delivery(request: Request, delivery_id: str, owner: Owner) -> DeliveryOut:
    """Send a delivery again under the same id, whether it was accepted or given up."""
    return DeliveryOut.model_validate(await _service(request).replay(owner, delivery_id))


@router.get("/webhooks/{webhook_id}", access=everything(ADMIN), operation_id="get_webhook", summary="One webhook")
async def get_webhook(request: Request, webhook_id: str, owner: Owner) -> WebhookOut:
    """One webhook, without its secret."""
    return WebhookOut.model_validate(await _service(request).repository.get(owner, webhook_id))


@router.patch(
    "/webhooks/{webhook_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.WEBHOOK_CHANGED, subject="webhook_id"),
    operation_id="change_webhook",
    summary="Change a webhook",
)
async def change_webhook(
    request: Request, webhook_id: str, body: WebhookChange, owner: Owner, principal: CurrentPrincipal
) -> WebhookOut:
    """Change a webhook's address or events, or disable it. Disabled webhooks receive no events."""
    return WebhookOut.model_validate(
        await _service(request).change(owner, webhook_id, body.given(), principal.token_id)
    )


@router.delete(
    "/webhooks/{webhook_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.WEBHOOK_DELETED, subject="webhook_id"),
    status_code=204,
    operation_id="unsubscribe_webhook",
    summary="Unsubscribe from events",
)
async def delete_webhook(request: Request, webhook_id: str, owner: Owner) -> Response:
    """Delete a webhook. Pending deliveries are not sent."""
    await _service(request).repository.delete(owner, webhook_id)
    return Response(status_code=204)


@router.post(
    "/webhooks/{webhook_id}/test",
    access=everything(ADMIN),
    audit=changes(AuditAction.WEBHOOK_SENT, subject="webhook_id"),
    status_code=202,
    operation_id="try_webhook",
    summary="Send a test event",
)
async def try_webhook(request: Request, webhook_id: str, owner: Owner) -> DeliveryOut:
    """Send a `webhook.test` event. Check it at `/webhooks/deliveries/{id}`."""
    return DeliveryOut.model_validate(await _service(request).test(owner, webhook_id))


@router.post(
    "/webhooks/{webhook_id}/replay",
    access=everything(ADMIN),
    audit=changes(AuditAction.WEBHOOK_SENT, subject="webhook_id"),
    status_code=202,
    operation_id="replay_webhook",
    summary="Resend given-up deliveries",
)
async def replay_webhook(request: Request, webhook_id: str, owner: Owner) -> Replayed:
    """Send all of a webhook's given-up deliveries again, under the same ids."""
    return Replayed(replayed=await _service(request).replay_all(owner, webhook_id))


def describe_events(described: APIRouter) -> None:
    """Describe the webhooks' events in the OpenAPI document; these routes are not served."""
    for name, summary in (
        ("resource.indexed", "A file can be searched"),
        ("resource.failed", "A file cannot be searched"),
        ("resource.expiring", "A file is deleted soon"),
        ("resource.deleted", "A file was deleted"),
    ):
        _describe(described, name, summary, _on_resource)
    _describe(described, "chunk.stored", "A passage was stored", _on_chunk)
    _describe(described, "answer.completed", "A question was answered", _on_answer)
    _describe(described, "sync.finished", "A source was synced", _on_sync)


def _describe(described: APIRouter, name: str, summary: str, event: Callable[..., Awaitable[None]]) -> None:
    operation = f"on_{name.replace('.', '_')}"
    described.add_api_route(name, event, methods=["POST"], operation_id=operation, summary=summary, tags=["events"])


async def _on_resource(body: ResourceEvent) -> None:
    """Sent when a file reaches its final state, expires soon, or is deleted. Respond with any 2xx within 15 seconds."""


async def _on_chunk(body: ChunkEvent) -> None:
    """Sent for each passage of a file, if a webhook subscribes to `chunk.stored`."""


async def _on_answer(body: AnswerEvent) -> None:
    """Sent when an answer is complete, with its checked citations."""


async def _on_sync(body: SyncEvent) -> None:
    """Sent when a connector has finished a run, with its results."""
