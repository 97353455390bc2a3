"""What of each route goes into the audit log: one row per route that changes something or shows content. A change without a row keeps the server from starting."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from starlette.requests import Request

from citewell.types.accounts import Principal
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditOutcome

_KEY = "citewell.audit"
_MAX_SUBJECT = 200


class AuditKind(Enum):
    """How an action is entered."""

    CHANGE = "noted before it begins, and entered before it is answered"
    VIEW = "entered before it is answered, once a minute for the same thing and the same asker"


@dataclass(frozen=True, slots=True)
class Audited:
    """What a route does. subject: the parameter of its path that says to what; answer: the field of its answer that does."""

    action: AuditAction
    kind: AuditKind = AuditKind.CHANGE
    subject: str | None = None
    answer: str | None = None


_A, _VIEW = AuditAction, AuditKind.VIEW
_RESOURCE, _PROJECT, _THREAD = "resource_id", "project_id", "thread_id"
AUDITED: Mapping[tuple[str, str], Audited] = {
    ("POST", "/account"): Audited(_A.SIGNED_UP),
    ("PATCH", "/account"): Audited(_A.ACCOUNT_CHANGED),
    ("POST", "/account/password-reset"): Audited(_A.RESET_ASKED),
    ("POST", "/account/password"): Audited(_A.PASSWORD_RESET),
    ("POST", "/account/identity"): Audited(_A.IDENTITY_CONNECTED),
    ("DELETE", "/account/identity"): Audited(_A.IDENTITY_REMOVED),
    ("POST", "/session"): Audited(_A.SIGNED_IN),
    ("POST", "/session/password"): Audited(_A.SIGNED_IN),
    ("GET", "/session/openid"): Audited(_A.SIGNED_IN),
    ("DELETE", "/session"): Audited(_A.SIGNED_OUT),
    ("DELETE", "/account/sessions"): Audited(_A.SIGNED_OUT_EVERYWHERE),
    ("DELETE", "/account/sessions/{session_id}"): Audited(_A.SIGNED_OUT, subject="session_id"),
    ("PATCH", "/people/{person_id}"): Audited(_A.PERSON_CHANGED, subject="person_id"),
    ("PUT", "/people/{person_id}/quotas"): Audited(_A.QUOTA_CHANGED, subject="person_id"),
    ("POST", "/tokens"): Audited(_A.TOKEN_CREATED, answer="id"),
    ("DELETE", "/tokens/{token_id}"): Audited(_A.TOKEN_REVOKED, subject="token_id"),
    ("POST", "/service-accounts"): Audited(_A.SERVICE_ACCOUNT_CREATED, answer="id"),
    ("PATCH", "/service-accounts/{account_id}"): Audited(_A.SERVICE_ACCOUNT_CHANGED, subject="account_id"),
    ("DELETE", "/service-accounts/{account_id}"): Audited(_A.SERVICE_ACCOUNT_DELETED, subject="account_id"),
    ("POST", "/service-accounts/{account_id}/keys"): Audited(_A.TOKEN_CREATED, answer="id"),
    ("POST", "/service-accounts/{account_id}/keys/{key_id}/rotation"): Audited(_A.TOKEN_ROTATED, subject="key_id"),
    ("DELETE", "/service-accounts/{account_id}/keys/{key_id}"): Audited(_A.TOKEN_REVOKED, subject="key_id"),
    ("POST", "/invitations"): Audited(_A.INVITATION_CREATED, answer="id"),
    ("POST", "/invitations/accept"): Audited(_A.INVITATION_ACCEPTED),
    ("DELETE", "/invitations/{invitation_id}"): Audited(_A.INVITATION_REVOKED, subject="invitation_id"),
    ("PUT", "/projects/{project_id}/members/{member_id}"): Audited(_A.MEMBER_CHANGED, subject="member_id"),
    ("DELETE", "/projects/{project_id}/members/{member_id}"): Audited(_A.MEMBER_REMOVED, subject="member_id"),
    ("DELETE", "/shared-projects/{project_id}"): Audited(_A.PROJECT_LEFT, subject=_PROJECT),
    ("POST", "/projects"): Audited(_A.PROJECT_CREATED, answer="id"),
    ("PATCH", "/projects/{project_id}"): Audited(_A.PROJECT_CHANGED, subject=_PROJECT),
    ("DELETE", "/projects/{project_id}"): Audited(_A.PROJECT_DELETED, subject=_PROJECT),
    # files
    ("POST", "/ingest"): Audited(_A.FILE_UPLOADED, answer="id"),
    ("POST", "/records"): Audited(_A.RECORDS_ADDED),
    ("POST", "/samples"): Audited(_A.SAMPLES_ADDED),
    ("PATCH", "/resources/{resource_id}"): Audited(_A.FILE_CHANGED, subject=_RESOURCE),
    ("DELETE", "/resources/{resource_id}"): Audited(_A.FILE_DELETED, subject=_RESOURCE),
    ("PUT", "/resources/{resource_id}/file"): Audited(_A.FILE_REPLACED, subject=_RESOURCE),
    ("POST", "/resources/{resource_id}/reindex"): Audited(_A.FILE_REINDEXED, subject=_RESOURCE),
    ("GET", "/resources/{resource_id}/file"): Audited(_A.FILE_DOWNLOADED, _VIEW, _RESOURCE),
    ("POST", "/resources/{resource_id}/link"): Audited(_A.FILE_DOWNLOADED, _VIEW, _RESOURCE),
    ("GET", "/resources/{resource_id}/elements"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("GET", "/resources/{resource_id}/chunks"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("GET", "/resources/{resource_id}/chunks/{chunk_id}"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("GET", "/resources/{resource_id}/blobs/{name:path}"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("POST", "/resources/{resource_id}/picture"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("GET", "/resources/{resource_id}/tables/{table_id}/rows"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("GET", "/resources/{resource_id}/tables/{table_id}/spread"): Audited(_A.FILE_READ, _VIEW, _RESOURCE),
    ("POST", "/reindex"): Audited(_A.FILES_REINDEXED, answer="id"),
    ("PUT", "/sources/{name}"): Audited(_A.SOURCE_CHANGED, subject="name"),
    ("DELETE", "/sources/{name}"): Audited(_A.SOURCE_DELETED, subject="name"),
    ("POST", "/sources/{name}/runs"): Audited(_A.SOURCE_SYNCED, subject="name"),
    ("POST", "/sources/{name}/items"): Audited(_A.SOURCE_SYNCED, subject="name"),
    ("POST", "/sources/{name}/problems"): Audited(_A.SOURCE_SYNCED, subject="name"),
    ("POST", "/sources/{name}/removals"): Audited(_A.SOURCE_SYNCED, subject="name"),
    # searching and asking
    ("POST", "/search"): Audited(_A.SEARCHED, _VIEW),
    ("POST", "/mcp"): Audited(_A.TOOLS_CALLED, _VIEW),
    ("POST", "/chat"): Audited(_A.ASKED),
    ("POST", "/v1/chat/completions"): Audited(_A.ASKED, answer="id"),
    ("POST", "/threads"): Audited(_A.THREAD_CREATED, answer="id"),
    ("PATCH", "/threads/{thread_id}"): Audited(_A.THREAD_CHANGED, subject=_THREAD),
    ("DELETE", "/threads/{thread_id}"): Audited(_A.THREAD_DELETED, subject=_THREAD),
    ("GET", "/threads/{thread_id}/export"): Audited(_A.THREAD_EXPORTED, subject=_THREAD),
    ("DELETE", "/threads/{thread_id}/messages/{message_id}"): Audited(_A.MESSAGE_DELETED, subject="message_id"),
    ("PUT", "/threads/{thread_id}/messages/{message_id}/feedback"): Audited(_A.FEEDBACK_GIVEN, subject="message_id"),
    ("POST", "/threads/{thread_id}/messages/{message_id}/share"): Audited(_A.SHARE_CREATED, answer="id"),
    ("DELETE", "/shares/{share_id}"): Audited(_A.SHARE_ENDED, subject="share_id"),
    ("GET", "/shared-answers/{secret}"): Audited(_A.SHARE_OPENED, _VIEW),
    ("GET", "/shared/{secret}"): Audited(_A.SHARE_OPENED, _VIEW),
    # other programs
    ("POST", "/webhooks"): Audited(_A.WEBHOOK_CREATED, answer="id"),
    ("PATCH", "/webhooks/{webhook_id}"): Audited(_A.WEBHOOK_CHANGED, subject="webhook_id"),
    ("DELETE", "/webhooks/{webhook_id}"): Audited(_A.WEBHOOK_DELETED, subject="webhook_id"),
    ("POST", "/webhooks/{webhook_id}/test"): Audited(_A.WEBHOOK_SENT, subject="webhook_id"),
    ("POST", "/webhooks/{webhook_id}/replay"): Audited(_A.WEBHOOK_SENT, subject="webhook_id"),
    ("POST", "/webhooks/deliveries/{delivery_id}/replay"): Audited(_A.WEBHOOK_SENT, subject="delivery_id"),
    ("POST", "/webhooks/incoming"): Audited(_A.TRIGGER_CREATED, answer="id"),
    ("DELETE", "/webhooks/incoming/{trigger_id}"): Audited(_A.TRIGGER_DELETED, subject="trigger_id"),
    ("POST", "/webhooks/incoming/{trigger_id}/fetch"): Audited(_A.TRIGGER_CALLED, subject="trigger_id"),
    ("POST", "/webhooks/incoming/{trigger_id}/chunk"): Audited(_A.TRIGGER_CALLED, subject="trigger_id"),
    ("POST", "/webhooks/incoming/{trigger_id}/result"): Audited(_A.TRIGGER_CALLED, subject="trigger_id"),
    ("POST", "/telegram/codes"): Audited(_A.TELEGRAM_CODE_CREATED),
    ("DELETE", "/telegram/links/{user_id}"): Audited(_A.TELEGRAM_UNLINKED, subject="user_id"),
    # the server, and everything at once
    ("GET", "/export"): Audited(_A.DATA_EXPORTED),
    ("GET", "/audit/export"): Audited(_A.AUDIT_EXPORTED),
    ("POST", "/erasure"): Audited(_A.DATA_ERASED),
    ("POST", "/indexes"): Audited(_A.INDEX_CREATED, answer="id"),
    ("PATCH", "/indexes/{index_id}"): Audited(_A.INDEX_CHANGED, subject="index_id"),
    ("DELETE", "/indexes/{index_id}"): Audited(_A.INDEX_DELETED, subject="index_id"),
    ("POST", "/indexes/{index_id}/switch"): Audited(_A.INDEX_CHANGED, subject="index_id"),
    ("POST", "/local-model"): Audited(_A.MODEL_CHANGED),
    ("DELETE", "/local-model"): Audited(_A.MODEL_CHANGED),
}
NOT_AUDITED: Mapping[tuple[str, str], str] = {
    ("POST", "/session/refresh"): "a session that goes on, every few minutes",
    (
        "POST",
        "/session/openid",
    ): "nobody is known yet: what came of it is entered when the provider sends the browser back",
    ("POST", "/ingest/estimate"): "keeps nothing",
    ("POST", "/citations/check"): "keeps nothing, and shows no more than it was given",
    ("POST", "/indexes/estimate"): "keeps nothing",
    ("POST", "/indexes/{index_id}/compare"): "keeps nothing",
}
"""Why other routes than GET are left out."""


@dataclass(slots=True, kw_only=True)
class AuditRecord:
    """What is known so far of one request. begin: notes a change before it is made."""

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
        """Somebody's credential came with the request."""
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
        """Somebody has just proved to be this owner."""
        self.actor, self.credential_id = AuditActor.PERSON, session_id
        self.actor_id = self.owner_id = owner_id

    def refused(self, owner_id: str | None, *, is_limited: bool = False) -> None:
        """Somebody was not let in, as this owner where one is known, whatever the answer's status.

        is_limited: how often that may be tried is limited, so each time is entered, also where no account was meant
        """
        self.owner_id, self.is_refused, self.is_limited = owner_id, True, is_limited

    def about(self, owner_id: str | None) -> None:
        """Nobody has proved to be this owner, where one is known; how often that may be tried is limited."""
        self.owner_id, self.is_limited = owner_id, True

    def opened(self, actor: AuditActor, owner_id: str, credential_id: str) -> None:
        """A link or a trigger of this owner was used."""
        self.actor, self.owner_id, self.credential_id = actor, owner_id, credential_id

    def entry(self, outcome: AuditOutcome, status: int | None = None) -> AuditEntry:
        """The entry as far as it is known."""
        assert self.audited is not None
        # What is erased takes its log with it; that it was erased stays, in nobody's.
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
    """Have a request carry its record."""
    request.scope[_KEY] = record


def record_of(request: Request) -> AuditRecord:
    """The record of a request, to say what only the endpoint knows."""
    return request.scope[_KEY]


async def change_begins(request: Request, owner_id: str) -> None:
    """Note a change of something of this owner's before it is made, once per request. Raises what writing it raises: then nothing was changed."""
    record = record_of(request)
    record.owner_id = owner_id
    audited = record.audited = audited_by(request)
    if audited is None or audited.kind is not AuditKind.CHANGE or record.has_begun:
        return
    _name_subject(record, request)
    await record.begin(record.entry(AuditOutcome.INTERRUPTED))
    record.has_begun = True


def audited_by(request: Request) -> Audited | None:
    """The row of a request's route, if it has one."""
    path = getattr(request.scope.get("route"), "path", request.scope["path"])
    return AUDITED.get((request.method, path))


def record_ended(request: Request) -> AuditRecord | None:
    """The record with all that the path says, when the answer is about to be given; None for a route that is not logged."""
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
