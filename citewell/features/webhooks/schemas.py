"""Webhooks as HTTP sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from citewell.features.schemas import RequestBody, utc
from citewell.types import Delivery, DeliveryState, EventType, Webhook

Subscription = Literal[
    "resource.indexed", "resource.failed", "resource.deleted", "chunk.stored", "answer.completed", "sync.finished"
]
_URL = Field(
    min_length=1,
    max_length=2_048,
    description="where events are posted: https://…, at a public address unless the server allows others",
    examples=["https://n8n.example.com/webhook/citewell"],
)
_EVENTS = "what it is told of; unless given, everything but `chunk.stored`"


class WebhookIn(RequestBody):
    """A new webhook."""

    url: str = _URL
    events: list[Subscription] | None = Field(default=None, min_length=1, max_length=6, description=_EVENTS)
    description: str = Field(default="", max_length=200, pattern=r"^[^\x00]*$")


class WebhookChange(RequestBody):
    """What is to change of a webhook; what is not given stays."""

    url: str | None = Field(default=None, min_length=1, max_length=2_048)
    events: list[Subscription] | None = Field(default=None, min_length=1, max_length=6, description=_EVENTS)
    description: str | None = Field(default=None, max_length=200, pattern=r"^[^\x00]*$")
    enabled: bool | None = Field(default=None, description="false: it is told nothing until it is enabled again")

    def given(self) -> dict[str, Any]:
        """The fields that have a value."""
        return self.model_dump(exclude_none=True)


class WebhookOut(BaseModel):
    """A webhook, without its secret."""

    id: str
    url: str
    events: list[EventType]
    description: str
    enabled: bool
    problem: str = Field(description="why its receiver is told nothing any more; empty otherwise")
    created_at: datetime

    @staticmethod
    def of(webhook: Webhook) -> WebhookOut:
        """The public form of a webhook."""
        return WebhookOut(
            id=webhook.id,
            url=webhook.url,
            events=list(webhook.events),
            description=webhook.description,
            enabled=webhook.enabled,
            problem=webhook.problem,
            created_at=utc(webhook.created_at),
        )


class NewWebhook(WebhookOut):
    """A new webhook with its secret, which is never shown again."""

    secret: str = Field(description="`whsec_…`, which signs what is sent, as libraries of Standard Webhooks take it")


class WebhookList(BaseModel):
    """All webhooks, oldest first."""

    webhooks: list[WebhookOut]


class DeliveryOut(BaseModel):
    """One event for one webhook. Attempts carry the same `id` as `webhook-id`."""

    id: str
    webhook_id: str
    type: EventType
    state: DeliveryState
    attempts: int
    created_at: datetime
    due: datetime = Field(description="when it is sent next, or was settled")
    status: int | None = Field(description="what the receiver answered last; null where it did not")
    problem: str

    @staticmethod
    def of(delivery: Delivery) -> DeliveryOut:
        """The public form of a delivery."""
        return DeliveryOut(
            id=delivery.id,
            webhook_id=delivery.webhook_id,
            type=delivery.type,
            state=delivery.state,
            attempts=delivery.attempts,
            created_at=utc(delivery.created_at),
            due=utc(delivery.due),
            status=delivery.status,
            problem=delivery.problem,
        )


class DeliveryList(BaseModel):
    """A page of deliveries, newest first."""

    deliveries: list[DeliveryOut]
    next_cursor: str | None = None


class Replayed(BaseModel):
    """How many deliveries are sent again."""

    replayed: int


class EventResource(BaseModel):
    """The data of `resource.indexed`, `resource.failed` and `resource.deleted`; of a deleted file only its names."""

    resource_id: str
    version: int
    filename: str
    identifier: str | None = None
    record_id: str | None = None
    mime_type: str | None = None
    status: str | None = None
    chunk_count: int | None = None
    parent_id: str | None = None
    thread: str | None = None
    metadata: dict[str, Any] | None = None
    error_code: str | None = None
    error_stage: str | None = None
    error_message: str | None = None


class EventChunk(BaseModel):
    """The data of `chunk.stored`."""

    chunk_id: str
    resource_id: str
    version: int
    ordinal: int
    type: str
    text: str
    context: str
    locator: dict[str, Any]
    token_count: int
    filename: str | None = None
    identifier: str | None = None
    record_id: str | None = None


class EventAnswer(BaseModel):
    """The data of `answer.completed`."""

    message_id: str
    thread_id: str
    question: str
    answer: str
    answered: bool
    intent: str
    citations: list[dict[str, Any]]


class EventSync(BaseModel):
    """The data of `sync.finished`: which source, and what was done."""

    source: str


class _Event(BaseModel):
    timestamp: datetime = Field(description="when it happened; attempts have times of their own in `webhook-timestamp`")


class ResourceEvent(_Event):
    """A file was read and can be searched, failed, or was deleted."""

    type: Literal["resource.indexed", "resource.failed", "resource.deleted"]
    data: EventResource


class ChunkEvent(_Event):
    """A passage of a file was stored."""

    type: Literal["chunk.stored"]
    data: EventChunk


class AnswerEvent(_Event):
    """A question was answered."""

    type: Literal["answer.completed"]
    data: EventAnswer


class SyncEvent(_Event):
    """A source was synchronised."""

    type: Literal["sync.finished"]
    data: EventSync
