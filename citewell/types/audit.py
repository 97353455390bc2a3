"""The audit log: who saw, changed or exported what, when, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AuditAction(StrEnum):
    """What was done, as `noun.verb`."""

    SIGNED_UP = "account.created"
    ACCOUNT_CHANGED = "account.changed"
    RESET_ASKED = "account.password_reset_requested"
    PASSWORD_RESET = "account.password_reset"  # noqa: S105 - no password
    IDENTITY_CONNECTED = "account.identity_connected"
    IDENTITY_REMOVED = "account.identity_removed"
    SIGNED_IN = "session.started"
    SIGNED_OUT = "session.ended"
    SIGNED_OUT_EVERYWHERE = "session.ended_everywhere"
    PERSON_CHANGED = "person.state_changed"
    QUOTA_CHANGED = "person.quota_changed"
    ADMINISTRATOR_MADE = "person.administrator_created"
    TOKEN_CREATED = "token.created"  # noqa: S105 - no password
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - no password
    TOKEN_ROTATED = "token.rotated"  # noqa: S105 - no password
    SERVICE_ACCOUNT_CREATED = "service_account.created"
    SERVICE_ACCOUNT_CHANGED = "service_account.changed"
    SERVICE_ACCOUNT_DELETED = "service_account.deleted"
    INVITATION_CREATED = "invitation.created"
    INVITATION_ACCEPTED = "invitation.accepted"
    INVITATION_REVOKED = "invitation.revoked"
    MEMBER_CHANGED = "member.role_changed"
    MEMBER_REMOVED = "member.removed"
    PROJECT_LEFT = "project.left"
    PROJECT_CREATED = "project.created"
    PROJECT_CHANGED = "project.changed"
    PROJECT_DELETED = "project.deleted"
    FILE_UPLOADED = "file.uploaded"
    FILE_REPLACED = "file.replaced"
    FILE_CHANGED = "file.changed"
    FILE_DELETED = "file.deleted"
    FILE_EXPIRED = "file.expired"
    FILE_REINDEXED = "file.reindexed"
    FILE_DOWNLOADED = "file.downloaded"
    FILE_READ = "file.read"
    RECORDS_ADDED = "records.added"
    SAMPLES_ADDED = "samples.added"
    FILES_REINDEXED = "files.reindexed"
    SOURCE_CHANGED = "source.changed"
    SOURCE_DELETED = "source.deleted"
    SOURCE_SYNCED = "source.synchronized"
    SEARCHED = "search.made"
    ASKED = "question.asked"
    THREAD_CREATED = "thread.created"
    THREAD_CHANGED = "thread.changed"
    THREAD_DELETED = "thread.deleted"
    THREAD_EXPORTED = "thread.exported"
    MESSAGE_DELETED = "message.deleted"
    FEEDBACK_GIVEN = "message.rated"
    MEMORY_CHANGED = "memory.changed"
    SHARE_CREATED = "share.created"
    SHARE_ENDED = "share.ended"
    SHARE_OPENED = "share.opened"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_DELETED = "webhook.deleted"
    WEBHOOK_SENT = "webhook.sent"
    TRIGGER_CREATED = "trigger.created"
    TRIGGER_DELETED = "trigger.deleted"
    TRIGGER_CALLED = "trigger.called"
    DATA_EXPORTED = "data.exported"
    DATA_ERASED = "data.erased"
    AUDIT_EXPORTED = "audit.exported"
    INDEX_CREATED = "index.created"
    INDEX_CHANGED = "index.changed"
    INDEX_DELETED = "index.deleted"
    MODEL_CHANGED = "model.changed"
    TELEGRAM_CODE_CREATED = "telegram.code_created"
    TELEGRAM_UNLINKED = "telegram.unlinked"
    TOOLS_CALLED = "tools.called"


class AuditActor(StrEnum):
    """The kind of credential used, if any."""

    PERSON = "person"
    TOKEN = "token"  # noqa: S105 - no password
    SERVICE_ACCOUNT = "service_account"
    EXTERNAL = "external"
    LINK = "link"
    TRIGGER = "trigger"
    NOBODY = "nobody"
    SYSTEM = "system"


class AuditOutcome(StrEnum):
    """The outcome: done, refused (4xx), failed (5xx), or interrupted because the server stopped."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One log entry. It holds ids only: no texts, names or secrets.

    owner_id:      the owner it concerns; None if there is none or it is unknown
    actor_id:      the owner who acted
    credential_id: the session, token, link or trigger
    subject:       the id of what was acted on
    network:       where the request came from (IPv4 /24, IPv6 /48)
    at:            seconds since 1970
    """

    at: float
    owner_id: str | None
    actor: AuditActor
    action: AuditAction
    outcome: AuditOutcome
    request_id: str
    actor_id: str | None = None
    credential_id: str | None = None
    subject: str | None = None
    status: int | None = None
    network: str = ""
    number: int | None = None
    actor_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """A filter for entries; None means any. Times are in seconds since 1970; `until` is exclusive."""

    action: AuditAction | None = None
    outcome: AuditOutcome | None = None
    actor_id: str | None = None
    subject: str | None = None
    since: float | None = None
    until: float | None = None
