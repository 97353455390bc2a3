"""HTTP schemas for triggers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from citewell.features.schemas import CitationOut, RequestBody, Schema, sample, utc
from citewell.types import Trigger, TriggerKind

_NAME = r"^[^\x00]+$"
_NO_NUL = r"^[^\x00]*$"


class TriggerIn(RequestBody):
    """A new trigger."""

    model_config = sample({"kind": "result", "name": "Questions from n8n", "project": "Frames"})

    kind: TriggerKind = Field(
        description="`fetch`: store records; `chunk`: set metadata on a file; `result`: answer a question"
    )
    name: str = Field(min_length=1, max_length=200, pattern=_NAME)
    project: str | None = Field(
        default=None,
        max_length=200,
        pattern=_NO_NUL,
        description="the project for its records, which also limits what it may change or ask about; default: everything",
    )


class TriggerOut(Schema):
    """A trigger, without its secret."""

    id: str
    kind: TriggerKind
    name: str
    project: str | None
    path: str = Field(description="the path that the other program calls on this server")
    created_at: datetime

    @staticmethod
    def of(trigger: Trigger) -> TriggerOut:
        """The public form of a trigger."""
        return TriggerOut(
            id=trigger.id,
            kind=trigger.kind,
            name=trigger.name,
            project=trigger.project,
            path=f"/webhooks/incoming/{trigger.id}/{trigger.kind}",
            created_at=utc(trigger.created_at),
        )


class NewTrigger(TriggerOut):
    """A new trigger with its secret, which is shown only once."""

    secret: str = Field(description="`trg_…`, sent as `Authorization: Bearer trg_…`")


class TriggerList(Schema):
    """All triggers, oldest first."""

    triggers: list[TriggerOut]


class FetchedRecord(RequestBody):
    """A record fetched by the other program."""

    id: str = Field(min_length=1, max_length=512)
    text: str
    title: str | None = None
    metadata: dict[str, Any] = Field(default={}, description="texts, numbers, true or false, dates, lists of texts")


class FetchIn(RequestBody):
    """Records fetched by the other program."""

    model_config = sample(
        {
            "records": [
                {
                    "id": "rec00000000000012",
                    "title": "Frame 12",
                    "text": "The heron stands in the reeds at dawn.",
                    "metadata": {"tags": ["outdoor"], "timestamp": "2026-11-18T07:30:00Z"},
                }
            ]
        }
    )

    records: list[FetchedRecord] = Field(max_length=10_000)


class FetchOut(Schema):
    """The result, with resource ids, one per record in order."""

    resource_ids: list[str]
    added: int
    replaced: int
    unchanged: int


class ChunkIn(RequestBody):
    """The other program's metadata for a chunk's file."""

    model_config = sample({"resource_id": "2dee0c1a-6c1f-4a4e-9d0f-0c6f7f4f7a11", "metadata": {"mood": "calm"}})

    resource_id: str = Field(min_length=1, max_length=36, description="as `chunk.stored` names it")
    metadata: dict[str, Any] = Field(description="keys to set; null removes a key")


class ChunkFileOut(Schema):
    """The file's current metadata."""

    resource_id: str
    metadata: dict[str, Any]


class ResultIn(RequestBody):
    """A question."""

    model_config = sample({"message": "What is the maximum loan size for first-time borrowers?"})

    message: str = Field(min_length=1, max_length=32_000)
    thread_id: str | None = Field(default=None, max_length=36, description="to continue a conversation")


class ResultOut(Schema):
    """An answer with its citations; webhooks receive the same one with `answer.completed`."""

    answer: str
    answered: bool
    citations: list[CitationOut]
    thread_id: str
    message_id: str
