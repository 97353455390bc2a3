"""Webhooks: events that Citewell sends to other programs; triggers: requests from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from citewell.types.json import JsonObject


class EventType(StrEnum):
    """The events that webhooks can receive."""

    RESOURCE_INDEXED = "resource.indexed"
    RESOURCE_FAILED = "resource.failed"
    RESOURCE_EXPIRING = "resource.expiring"
    RESOURCE_DELETED = "resource.deleted"
    CHUNK_STORED = "chunk.stored"
    ANSWER_COMPLETED = "answer.completed"
    SYNC_FINISHED = "sync.finished"
    TEST = "webhook.test"


SUBSCRIBED = (
    EventType.RESOURCE_INDEXED,
    EventType.RESOURCE_FAILED,
    EventType.RESOURCE_EXPIRING,
    EventType.RESOURCE_DELETED,
    EventType.ANSWER_COMPLETED,
    EventType.SYNC_FINISHED,
)
"""The default events of a webhook: all except `chunk.stored`, of which a long file has thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingEvent:
    """An event. `key` identifies it among its owner's events: two with one key are sent once.

    about: the file or message that the data describes; the data is deleted with it
    """

    type: EventType
    key: str
    data: JsonObject
    about: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An endpoint that receives an owner's events. Disabled endpoints receive none; `problem` says why the server disabled it."""

    id: str
    owner_id: str
    url: str
    events: tuple[EventType, ...]
    description: str
    enabled: bool
    problem: str
    created_at: float


class DeliveryState(StrEnum):
    """The state of a delivery: pending, accepted by the receiver, or given up."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event for one webhook, sent under the same id until it is accepted or given up.

    attempts: how often it was sent since it was created or replayed
    due:      when it is sent next
    status:   the receiver's last HTTP status; None if it did not respond
    problem:  what went wrong the last time
    """

    id: str
    webhook_id: str
    type: EventType
    state: DeliveryState
    attempts: int
    created_at: float
    due: float
    status: int | None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A leased delivery with everything needed to send it. `secret` signs it; `body` is the exact payload."""

    id: str
    webhook_id: str
    url: str
    secret: str
    body: str
    attempts: int
    started_at: float
    lease: str


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A receiver's response: the HTTP status and, if given, after how many seconds to retry."""

    status: int
    retry_after: float | None = None


class TriggerKind(StrEnum):
    """What a trigger does: store records, set metadata on a chunk's file, or answer a question."""

    FETCH = "fetch"
    CHUNK = "chunk"
    RESULT = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """An endpoint that another program calls with its own secret. `project` receives its records and limits its questions."""

    id: str
    owner_id: str
    kind: TriggerKind
    name: str
    project: str | None
    created_at: float
