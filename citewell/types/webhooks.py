"""What Citewell tells other programs, and which of them tell it something."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from citewell.types.json import JsonObject


class EventType(StrEnum):
    """What may be told of."""

    RESOURCE_INDEXED = "resource.indexed"
    RESOURCE_FAILED = "resource.failed"
    RESOURCE_DELETED = "resource.deleted"
    CHUNK_STORED = "chunk.stored"
    ANSWER_COMPLETED = "answer.completed"
    SYNC_FINISHED = "sync.finished"
    TEST = "webhook.test"


SUBSCRIBED = (
    EventType.RESOURCE_INDEXED,
    EventType.RESOURCE_FAILED,
    EventType.RESOURCE_DELETED,
    EventType.ANSWER_COMPLETED,
    EventType.SYNC_FINISHED,
)
"""What a webhook is told of where its owner names nothing: all but `chunk.stored`, of which a long file has thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingEvent:
    """Something that happened. `key` names it among its owner's: what is told twice under one key is sent once.

    about: the file or the message that the data are of, and with which they are deleted.
    """

    type: EventType
    key: str
    data: JsonObject
    about: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An address that an owner wants told of events. Not `enabled`, it is told nothing; `problem` says why its server ended that."""

    id: str
    owner_id: str
    url: str
    events: tuple[EventType, ...]
    description: str
    enabled: bool
    problem: str
    created_at: float


class DeliveryState(StrEnum):
    """Where a delivery is: on its way, taken by the receiver, or given up."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event for one webhook, sent under the same id until it is taken or given up.

    attempts: how often it was sent since it was made or replayed; due: when it is sent next; status: what the receiver answered
    last, None where it did not; problem: what was wrong the last time.
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
    """A leased delivery with all that is needed to send it. `secret` signs, `body` is exactly what is sent."""

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
    """What a webhook's receiver answered: the HTTP status, and in how many seconds it wants to be asked again, where it says so."""

    status: int
    retry_after: float | None = None


class TriggerKind(StrEnum):
    """What another program may have Citewell do: keep records, put metadata on a chunk's file, or answer a question."""

    FETCH = "fetch"
    CHUNK = "chunk"
    RESULT = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """An address here that another program calls with a secret of its own; `project` is where its records go, and what it may ask about."""

    id: str
    owner_id: str
    kind: TriggerKind
    name: str
    project: str | None
    created_at: float
