"""HTTP schemas for links to single answers."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, utc
from citewell.types.sharing import SharedAnswer, ShownAnswer


class ShareIn(RequestBody):
    """How long a link works."""

    days: int = Field(default=30, ge=1, le=365)


class ShareOut(Schema):
    """A link to one answer, without its secret."""

    id: str
    thread: str
    message: str
    created_at: datetime
    expires_at: datetime

    @staticmethod
    def of(one: SharedAnswer) -> ShareOut:
        """The public form of a link."""
        return ShareOut(
            id=one.id,
            thread=one.thread_id,
            message=one.message_id,
            created_at=utc(one.created_at),
            expires_at=utc(one.expires_at),
        )


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

    answer: str
    passages: list[SharedPassageOut]
    answered_at: datetime
    expires_at: datetime

    @staticmethod
    def of(shown: ShownAnswer) -> SharedAnswerOut:
        """The public form of a shared answer."""
        return SharedAnswerOut(
            answer=shown.text,
            passages=[
                SharedPassageOut(n=one.n, label=one.label, quote=one.quote, verdict=one.verdict)
                for one in shown.passages
            ],
            answered_at=utc(shown.answered_at),
            expires_at=utc(shown.expires_at),
        )
