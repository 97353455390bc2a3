"""HTTP schemas for threads."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from citewell.features.picture_schemas import PictureOut
from citewell.features.schemas import (
    CitationOut,
    DescribedBy,
    InferredFilterOut,
    PlaceOut,
    RememberedOut,
    RequestBody,
    Schema,
    ScopeJson,
    ScopeOut,
    Timestamp,
    utc,
)
from citewell.features.threads.service import ShownMessage, ShownThread


class ThreadOut(Schema):
    """A conversation."""

    id: str
    title: str
    scope: ScopeJson
    created_at: Timestamp
    updated_at: Timestamp


class ThreadList(Schema):
    """Threads, most recently used first."""

    threads: list[ThreadOut]
    next_cursor: str | None


class FeedbackIn(RequestBody):
    """A reader's rating of an answer; without a rating, the earlier one is removed."""

    rating: Literal["up", "down"] | None
    comment: str | None = Field(default=None, max_length=2_000)


class ThreadIn(RequestBody):
    """A new thread, or a new title."""

    title: str = Field(min_length=1, max_length=200)


@with_config(ConfigDict(extra="ignore"))
class ProblemOut(TypedDict):
    """Why there is no answer."""

    code: str
    message: str


@with_config(ConfigDict(extra="ignore"))
class FeedbackOut(TypedDict, total=False):
    """A reader's rating of an answer."""

    rating: Literal["up", "down"]
    comment: str


class AnsweredBeforeJson(TypedDict):
    """The earlier answer that was given again; `answered_at` in seconds since 1970."""

    question: str
    thread_id: str
    message_id: str
    answered_at: float


@with_config(ConfigDict(extra="allow"))
class MessageDetailsOut(TypedDict, total=False):
    """Details of a message; `nearest` are passages close to a question without an answer.

    `picture` is a Vega-Lite specification; it is omitted if the file it was computed from was deleted.
    """

    intent: str
    answered: bool
    scope: ScopeOut
    usage: dict[str, Any]
    nearest: list[PlaceOut]
    picture: PictureOut
    no_answer: dict[str, str]
    inferred_filters: list[InferredFilterOut]
    ignore_inferred: list[str] | bool
    notice: str
    confidence: float
    answered_before: AnsweredBeforeJson
    stopped: bool
    error: ProblemOut
    feedback: FeedbackOut


MessageDetailsJson = Annotated[dict[str, Any], DescribedBy((MessageDetailsOut,))]


class MessageOut(Schema):
    """One message with its citations."""

    id: str
    role: str
    content: str
    created_at: datetime
    citations: list[CitationOut]
    remembered: list[RememberedOut] = Field(default=[], description="quoted from earlier conversations")
    details: MessageDetailsJson

    @staticmethod
    def of(shown: ShownMessage) -> MessageOut:
        """The public form of a message."""
        message = shown.message
        return MessageOut(
            id=message.id,
            role=message.role,
            content=message.content,
            created_at=utc(message.created_at),
            citations=[CitationOut.of(c, available=c.resource_id in shown.available) for c in message.citations],
            remembered=[RememberedOut.model_validate(one.to_json()) for one in message.remembered],
            details=dict(message.details),
        )


class ThreadWithMessages(ThreadOut):
    """A complete conversation."""

    messages: list[MessageOut]
    answering: bool = Field(default=False, description="whether a detached answer is under way in this server process")

    @staticmethod
    def of_shown(shown: ShownThread) -> ThreadWithMessages:
        """The public form of a thread with its messages."""
        messages = [MessageOut.of(message) for message in shown.messages]
        return ThreadWithMessages(
            **ThreadOut.model_validate(shown.thread).model_dump(), messages=messages, answering=shown.answering
        )
