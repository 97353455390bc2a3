"""The record of one request on its way to the audit log."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request

from citewell.features.declared import Audited, AuditKind, declared_at
from citewell.types.accounts import Principal
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditOutcome

_KEY = "citewell.audit"
_MAX_SUBJECT = 200


@dataclass(slots=True, kw_only=True)
class AuditRecord:
    """What is known so far about one request. begin: records a change before it is made."""

    network: str
    begin: Callable[[AuditEntry], Awaitable[None]]
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    at: float = field(default_factory=time.time)
    audited: Audited | None = None
    owner_id: str | None = None
    actor: AuditActor = AuditActor.NOBODY
    actor_id: str | None = None
    credential_id: str | None = None
    subject: str | None = None
    has_begun: bool = False
    is_refused: bool = False
    is_limited: bool = False

    def sent_by(self, principal: Principal) -> None:
        """Record the credential sent with the request."""
        if principal.session_id is not None:
            self.actor, self.credential_id = AuditActor.PERSON, principal.session_id
        elif principal.managed_by is not None:
            self.actor, self.credential_id = AuditActor.SERVICE_ACCOUNT, principal.token_id
        elif principal.token_id is not None:
            self.actor, self.credential_id = AuditActor.TOKEN, principal.token_id
        else:
            self.actor = AuditActor.EXTERNAL
        self.actor_id = self.owner_id = principal.owner_id

    def signed_in(self, owner_id: str, session_id: str) -> None:
        """Record that the caller has authenticated as this owner."""
        self.actor, self.credential_id = AuditActor.PERSON, session_id
        self.actor_id = self.owner_id = owner_id

    def refused(self, owner_id: str | None, *, is_limited: bool = False) -> None:
        """Record a refused sign-in, as this owner if known, whatever the response's status.

        is_limited: attempts are rate-limited, so each one is logged, even if it named no account
        """
        self.owner_id, self.is_refused, self.is_limited = owner_id, True, is_limited

    def about(self, owner_id: str | None) -> None:
        """Record an unauthenticated, rate-limited request for this owner, if known."""
        self.owner_id, self.is_limited = owner_id, True

    def opened(self, actor: AuditActor, owner_id: str, credential_id: str) -> None:
        """Record that a link or trigger of this owner was used."""
        self.actor, self.owner_id, self.credential_id = actor, owner_id, credential_id

    def entry(self, outcome: AuditOutcome, status: int | None = None) -> AuditEntry:
        """The entry with what is known so far."""
        assert self.audited is not None
        # Erasing an owner erases their log; the entry about the erasure stays, without an owner.
        erased = self.audited.action is AuditAction.DATA_ERASED and self.owner_id is not None
        return AuditEntry(
            at=self.at,
            owner_id=None if erased else self.owner_id,
            actor=self.actor,
            actor_id=self.actor_id,
            credential_id=self.credential_id,
            action=self.audited.action,
            subject=(self.owner_id if erased else self.subject),
            outcome=outcome,
            status=status,
            network=self.network,
            request_id=self.request_id,
        )


def keep_record(request: Request, record: AuditRecord) -> None:
    """Attach its record to a request."""
    request.scope[_KEY] = record


def record_of(request: Request) -> AuditRecord:
    """The record of a request, for details that only the endpoint knows."""
    return request.scope[_KEY]


async def change_begins(request: Request, owner_id: str) -> None:
    """Record a change to something of this owner before it is made, once per request. If this raises, nothing was changed."""
    record = record_of(request)
    record.owner_id = owner_id
    audited = record.audited = audited_by(request)
    if audited is None or audited.kind is not AuditKind.CHANGE or record.has_begun:
        return
    _name_subject(record, request)
    await record.begin(record.entry(AuditOutcome.INTERRUPTED))
    record.has_begun = True


def audited_by(request: Request) -> Audited | None:
    """What a request's route logs; None for nothing."""
    declared = declared_at(request)
    return declared.audit if declared is not None and isinstance(declared.audit, Audited) else None


def record_ended(request: Request) -> AuditRecord | None:
    """The record completed from the path, just before the response; None for a route that is not logged."""
    record = record_of(request)
    record.audited = audited_by(request)
    if record.audited is None:
        return None
    _name_subject(record, request)
    return record


def _name_subject(record: AuditRecord, request: Request) -> None:
    parameter = record.audited.subject if record.audited is not None else None
    if record.subject is None and parameter is not None:
        value = request.path_params.get(parameter)
        record.subject = None if value is None else str(value)[:_MAX_SUBJECT]
