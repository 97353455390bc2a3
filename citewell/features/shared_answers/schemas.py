"""HTTP schemas for links to single answers."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, Timestamp


class ShareIn(RequestBody):
    """How long a link works."""

    days: int = Field(default=30, ge=1, le=365)


class ShareOut(Schema):
    """A link to one answer, without its secret."""

    id: str
    thread: str = Field(validation_alias="thread_id")
    message: str = Field(validation_alias="message_id")
    created_at: Timestamp
    expires_at: Timestamp


class NewShare(ShareOut):
    """A new link: `path` is its path on this server, shown only once."""

    path: str


class ShareList(Schema):
    """Links that have not expired, newest first."""

    shares: list[ShareOut]


class SharedPassageOut(Schema):
    """A passage that the answer cites as `[n]`."""

    n: int
    label: str
    quote: str
    verdict: str = Field(description="supported, weak or unsupported")


class SharedAnswerOut(Schema):
    """All that a link shows."""

    answer: str = Field(validation_alias="text")
    passages: list[SharedPassageOut]
    answered_at: Timestamp
    expires_at: Timestamp
