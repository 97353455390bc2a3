"""The audit log as HTTP sees it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from citewell.features.schemas import Schema, Timestamp
from citewell.types.audit import AuditAction, AuditActor, AuditOutcome


class AuditFormat(StrEnum):
    """The format of an export: JSON with one entry per line, or CSV with a header."""

    NDJSON = "ndjson"
    CSV = "csv"


class AuditEntryOut(Schema):
    """One entry. Ids only: no texts, file names or secrets."""

    number: int = Field(description="increases over time; gaps have no meaning")
    at: Timestamp
    owner_id: str | None = Field(description="the owner it concerns")
    actor: AuditActor
    actor_id: str | None = Field(description="the owner who acted")
    actor_name: str | None = Field(description="their current name, if they have an account")
    credential_id: str | None = Field(description="the session, token, link or trigger")
    action: AuditAction
    subject: str | None = Field(description="the id of what was acted on")
    outcome: AuditOutcome
    status: int | None = Field(description="the HTTP status of the response")
    network: str = Field(description="the origin: IPv4 /24, IPv6 /48")
    request_id: str = Field(description="`X-Request-ID` of the response")


class AuditList(Schema):
    """A page of entries, newest first."""

    entries: list[AuditEntryOut]
    next_cursor: str | None
