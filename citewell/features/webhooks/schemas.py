"""HTTP schemas for webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from citewell.features.schemas import RequestBody, Schema, Timestamp, sample
from citewell.types import DeliveryState, EventType

Subscription = Literal[
    "resource.indexed",
    "resource.failed",
    "resource.expiring",
    "resource.deleted",
    "chunk.stored",
    "answer.completed",
    "sync.finished",
]
_URL = Field(
    min_length=1,
    max_length=2_048,
    description="where events are posted: https://…, at a public address unless the server allows others",
    examples=["https://n8n.example.com/webhook/citewell"],
)
_EVENTS = "the events to send; default: all except `chunk.stored`"
_AT = "2026-11-18T07:30:00.000Z"
_FILE: dict[str, Any] = {
    "resource_id": "2dee0c1a-6c1f-4a4e-9d0f-0c6f7f4f7a11",
    "version": 1,
    "filename": "Loan Policy.pdf",
}
_CITATION: dict[str, Any] = {
    "n": 1,
    "chunk_id": "92f4a3b0-5d0e-5c52-8a6e-2f4f0c1d9b7e",
    "resource_id": "2dee0c1a-6c1f-4a4e-9d0f-0c6f7f4f7a11",
    "version": 1,
    "filename": "Loan Policy.pdf",
    "locator": {"page": 3, "pages": [3]},
    "label": "Loan Policy.pdf (p. 3)",
    "quote": "A first-time borrower may receive at most GHS 5,000.",
    "verdict": "supported",
    "score": 0.91,
}


def _event(type: EventType, data: dict[str, Any]) -> ConfigDict:
    return sample({"type": type.value, "timestamp": _AT, "data": data})


class WebhookIn(RequestBody):
    """A new webhook."""

    url: str = _URL
    events: list[Subscription] | None = Field(default=None, min_length=1, max_length=6, description=_EVENTS)
    description: str = Field(default="", max_length=200, pattern=r"^[^\x00]*$")


class WebhookChange(RequestBody):
    """Changes to a webhook; omitted fields stay."""

    url: str | None = Field(default=None, min_length=1, max_length=2_048)
    events: list[Subscription] | None = Field(default=None, min_length=1, max_length=6, description=_EVENTS)
    description: str | None = Field(default=None, max_length=200, pattern=r"^[^\x00]*$")
    enabled: bool | None = Field(default=None, description="false: it receives no events until it is enabled again")

    def given(self) -> dict[str, Any]:
        """The fields that have a value."""
        return self.model_dump(exclude_none=True)


class WebhookOut(Schema):
    """A webhook, without its secret."""

    id: str
    url: str
    events: list[EventType]
    description: str
    enabled: bool
    problem: str = Field(description="why the server disabled it; empty otherwise")
    created_at: Timestamp


class NewWebhook(WebhookOut):
    """A new webhook with its secret, which is shown only once."""

    secret: str = Field(description="`whsec_…`, the signing secret in the format of Standard Webhooks libraries")


class WebhookList(Schema):
    """All webhooks, oldest first."""

    webhooks: list[WebhookOut]


class DeliveryOut(Schema):
    """One event for one webhook. Attempts carry the same `id` as `webhook-id`."""

    id: str
    webhook_id: str
    type: EventType
    state: DeliveryState
    attempts: int
    created_at: Timestamp
    due: Timestamp = Field(description="when it is sent next, or was accepted or given up")
    status: int | None = Field(description="the receiver's last HTTP status; null if it did not respond")
    problem: str


class DeliveryList(Schema):
    """A page of deliveries, newest first."""

    deliveries: list[DeliveryOut]
    next_cursor: str | None = None


class Replayed(Schema):
    """How many deliveries will be sent again."""

    replayed: int


class EventResource(Schema):
    """The data of events about files; for one that expires soon or was deleted, only its names, when, and why."""

    resource_id: str
    version: int
    filename: str
    identifier: str | None = None
    record_id: str | None = None
    mime_type: str | None = None
    file_size_bytes: int | None = None
    detected_category: str | None = None
    status: str | None = None
    chunk_count: int | None = None
    parent_id: str | None = None
    thread: str | None = None
    metadata: dict[str, Any] | None = None
    error_code: str | None = None
    error_stage: str | None = None
    error_message: str | None = None
    expires_at: datetime | None = Field(default=None, description="when a file that expires soon is deleted")
    reason: Literal["expired"] | None = Field(default=None, description="why it was deleted, unless somebody did")


class EventChunk(Schema):
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


class EventAnswer(Schema):
    """The data of `answer.completed`."""

    message_id: str
    thread_id: str
    question: str
    answer: str
    answered: bool
    intent: str
    citations: list[dict[str, Any]]


class EventSync(Schema):
    """The data of `sync.finished`: the source, and what was done."""

    source: str
    report: dict[str, Any] = Field(
        description="`added`, `changed`, `unchanged`, `deleted`, `problem_count` and `seconds`; `problems` and `notes` with a sentence for each"
    )


class _Event(BaseModel):
    timestamp: datetime = Field(description="when it happened; each attempt has its own time in `webhook-timestamp`")


class ResourceEvent(_Event):
    """A file was read and can be searched, failed, expires soon, or was deleted."""

    model_config = _event(
        EventType.RESOURCE_INDEXED,
        {
            **_FILE,
            "mime_type": "application/pdf",
            "status": "indexed",
            "chunk_count": 31,
            "metadata": {"tags": ["policy"]},
        },
    )

    type: Literal["resource.indexed", "resource.failed", "resource.expiring", "resource.deleted"]
    data: EventResource


class ChunkEvent(_Event):
    """A passage of a file was stored."""

    model_config = _event(
        EventType.CHUNK_STORED,
        {
            "chunk_id": "92f4a3b0-5d0e-5c52-8a6e-2f4f0c1d9b7e",
            **_FILE,
            "ordinal": 6,
            "type": "text",
            "text": "A first-time borrower may receive at most GHS 5,000.",
            "context": "Loan sizes",
            "locator": {"page": 3, "pages": [3], "headings": ["Loan sizes"]},
            "token_count": 17,
        },
    )

    type: Literal["chunk.stored"]
    data: EventChunk


class AnswerEvent(_Event):
    """A question was answered."""

    model_config = _event(
        EventType.ANSWER_COMPLETED,
        {
            "message_id": "5b1c7d0e-8f3a-4d7b-9a51-3f0f2c7f6b21",
            "thread_id": "c0a8e2d4-1b6f-4c38-8d2e-7a9b5e4f1c30",
            "question": "What is the maximum loan size for first-time borrowers?",
            "answer": "A first-time borrower may receive at most GHS 5,000 [1].",
            "answered": True,
            "intent": "document_query",
            "citations": [_CITATION],
        },
    )

    type: Literal["answer.completed"]
    data: EventAnswer


class SyncEvent(_Event):
    """A source was synced."""

    model_config = _event(
        EventType.SYNC_FINISHED,
        {
            "source": "frames",
            "report": {
                "added": 3,
                "changed": 1,
                "unchanged": 996,
                "deleted": 0,
                "problem_count": 1,
                "problems": [
                    {"key": "rec00000000000012", "code": "frame_missing", "message": "There is no frame shots/012.png."}
                ],
                "notes": [],
                "seconds": 14.9,
            },
        },
    )

    type: Literal["sync.finished"]
    data: EventSync
