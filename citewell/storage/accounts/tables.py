"""The tables of accounts: people, sessions, invitations, members of projects, and service accounts."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa

from citewell.storage.tables import Id, Time, metadata, owner_column, resource_projects, resources, tokens
from citewell.types.accounts import PersonState


def _project(**options: Any) -> sa.Column[str]:
    options.setdefault("nullable", False)
    return sa.Column("project_id", Id, sa.ForeignKey("projects.id", ondelete="CASCADE"), **options)


people = sa.Table(
    "people",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(unique=True),
    # lower case
    sa.Column("email", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    # argon2id, as a PHC string; null for those who sign in elsewhere
    sa.Column("password_hash", sa.Text),
    sa.Column("is_administrator", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("state", sa.Text, nullable=False),
    # who they are to an identity provider
    sa.Column("issuer", sa.Text),
    sa.Column("subject", sa.Text),
    sa.Column("created_at", Time, nullable=False),
    sa.UniqueConstraint("issuer", "subject"),
)

# Where somebody is signed in. Refresh tokens of one session follow each other; a second use of one ends the session.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("person_id", Id, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("last_used_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False),
    sa.Column("ended_at", Time),
)

refresh_tokens = sa.Table(
    "refresh_tokens",
    metadata,
    sa.Column("token_hash", sa.String(64), primary_key=True),
    sa.Column("session_id", Id, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("used_at", Time),
)

# Secrets that set a new password, each once; kept as hashes.
password_resets = sa.Table(
    "password_resets",
    metadata,
    sa.Column("token_hash", sa.String(64), primary_key=True),
    sa.Column("person_id", Id, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("expires_at", Time, nullable=False),
)

# Failed sign-ins, by account and by address, within a span of time; all servers of a database count together.
attempts = sa.Table(
    "attempts",
    metadata,
    # a hash of the kind and the address or e-mail: neither need be readable here
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("tried", sa.Integer, nullable=False),
    sa.Column("until", Time, nullable=False),
)

memberships = sa.Table(
    "memberships",
    metadata,
    _project(primary_key=True),
    owner_column("member_id", primary_key=True, index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("created_at", Time, nullable=False),
)

invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column("invited_by", index=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("email", sa.Text),
    _project(nullable=True),
    sa.Column("role", sa.Text),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False),
    sa.Column("used_at", Time),
    # the token that it was made with, and ends with
    sa.Column("made_with", Id),
)

# Accounts of programs. What is theirs has an owner of its own, as what is a person's has; `owner_id` is who made them and manages them.
service_accounts = sa.Table(
    "service_accounts",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(index=True),
    owner_column("acts_as", unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.UniqueConstraint("owner_id", "name"),
)


def is_suspended(owner_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether the person or service account that an owner is, or the person who manages that service account, is suspended."""
    person, account, ended = people.alias(), service_accounts.alias(), PersonState.SUSPENDED.value
    managed = account.c.acts_as == owner_id
    return sa.or_(
        sa.exists().where(person.c.owner_id == owner_id, person.c.state == ended),
        sa.exists().where(managed, account.c.state == ended),
        sa.exists().where(managed, person.c.owner_id == account.c.owner_id, person.c.state == ended),
    )


def may_act(owner_id: sa.ColumnElement[str], made_with: sa.ColumnElement[str | None]) -> sa.ColumnElement[bool]:
    """Whether what an owner has set up still works: the owner is not suspended, and the token that made it, if one did, is valid."""
    maker = tokens.alias()
    # Read at each execution: some of these statements are written once.
    now = sa.bindparam("now", callable_=time.time, type_=sa.Double(), unique=True)
    in_time = sa.or_(maker.c.expires_at.is_(None), maker.c.expires_at > now)
    valid = sa.exists().where(maker.c.id == made_with, maker.c.revoked_at.is_(None), in_time)
    return sa.and_(sa.not_(is_suspended(owner_id)), sa.or_(made_with.is_(None), valid))


def may_read(owner_id: sa.ColumnElement[str], resource_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether a file exists and is the owner's, or is in a project of another owner that is shared with them."""
    file, held, member = resources.alias(), resource_projects.alias(), memberships.alias()
    shared = held.join(member, member.c.project_id == held.c.project_id)
    own = sa.exists().where(file.c.id == resource_id, file.c.owner_id == owner_id)
    in_project = (
        sa.exists().select_from(shared).where(held.c.resource_id == resource_id, member.c.member_id == owner_id)
    )
    # Said explicitly, because the owner may be a column of a statement two levels up.
    return sa.or_(own.correlate_except(file), in_project.correlate_except(held, member))
