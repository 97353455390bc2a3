"""The audit log as HTTP sees it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from citewell.features.schemas import Schema, Timestamp
from citewell.types.audit import AuditAction, AuditActor, AuditOutcome


class AuditFormat(StrEnum):
    """What an export is written as: JSON, one entry per line, or CSV with a line of names."""

    NDJSON = "ndjson"
    CSV = "csv"


class AuditEntryOut(Schema):
    """One entry. Ids only: no texts, file names or secrets."""

    number: int = Field(description="grows with time; gaps have no meaning")
    at: Timestamp
    owner_id: str | None = Field(description="whose things it was about")
    actor: AuditActor
    actor_id: str | None = Field(description="the owner who acted")
    actor_name: str | None = Field(description="their name now, where they have an account")
    credential_id: str | None = Field(description="the session, token, link or trigger")
    action: AuditAction
    subject: str | None = Field(description="the id of what it was done to")
    outcome: AuditOutcome
    status: int | None = Field(description="the HTTP status of the answer")
    network: str = Field(description="where from: IPv4 to /24, IPv6 to /48")
    request_id: str = Field(description="`X-Request-ID` of the answer")


class AuditList(Schema):
    """A page of entries, newest first."""

    entries: list[AuditEntryOut]
    next_cursor: str | None
