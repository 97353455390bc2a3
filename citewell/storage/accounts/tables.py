"""The tables of accounts: people, sessions, invitations, project members, and service accounts."""

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
    # lowercase
    sa.Column("email", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    # argon2id, as a PHC string; null for sign-in with an identity provider only
    sa.Column("password_hash", sa.Text),
    sa.Column("is_administrator", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("state", sa.Text, nullable=False),
    # identity at an identity provider
    sa.Column("issuer", sa.Text),
    sa.Column("subject", sa.Text),
    sa.Column("created_at", Time, nullable=False),
    sa.UniqueConstraint("issuer", "subject"),
)

# Sign-in sessions. Each refresh token replaces the previous one; reusing one ends the session.
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

# Single-use password reset secrets, stored as hashes.
password_resets = sa.Table(
    "password_resets",
    metadata,
    sa.Column("token_hash", sa.String(64), primary_key=True),
    sa.Column("person_id", Id, sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("expires_at", Time, nullable=False),
)

# Failed sign-ins by account and by address within a time window, shared by all servers on a database.
attempts = sa.Table(
    "attempts",
    metadata,
    # a hash of the kind and the address or e-mail, neither of which needs to be readable
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
    # the token that created it and whose end revokes it
    sa.Column("made_with", Id),
)

# Accounts of programs. Like a person, each has its own owner for its data; `owner_id` created and manages it.
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
    """Whether the owner's person or service account, or the service account's manager, is suspended."""
    person, account, ended = people.alias(), service_accounts.alias(), PersonState.SUSPENDED.value
    managed = account.c.acts_as == owner_id
    return sa.or_(
        sa.exists().where(person.c.owner_id == owner_id, person.c.state == ended),
        sa.exists().where(managed, account.c.state == ended),
        sa.exists().where(managed, person.c.owner_id == account.c.owner_id, person.c.state == ended),
    )


def may_act(owner_id: sa.ColumnElement[str], made_with: sa.ColumnElement[str | None]) -> sa.ColumnElement[bool]:
    """Whether something an owner set up still works: the owner is active, and any token that created it is valid."""
    maker = tokens.alias()
    # Evaluated at each execution, because some of these statements are compiled only once.
    now = sa.bindparam("now", callable_=time.time, type_=sa.Double(), unique=True)
    in_time = sa.or_(maker.c.expires_at.is_(None), maker.c.expires_at > now)
    valid = sa.exists().where(maker.c.id == made_with, maker.c.revoked_at.is_(None), in_time)
    return sa.and_(sa.not_(is_suspended(owner_id)), sa.or_(made_with.is_(None), valid))


def may_read(owner_id: sa.ColumnElement[str], resource_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether a file exists and is the owner's or in a project shared with them."""
    file, held, member = resources.alias(), resource_projects.alias(), memberships.alias()
    shared = held.join(member, member.c.project_id == held.c.project_id)
    own = sa.exists().where(file.c.id == resource_id, file.c.owner_id == owner_id)
    in_project = (
        sa.exists().select_from(shared).where(held.c.resource_id == resource_id, member.c.member_id == owner_id)
    )
    # Explicit, because the owner may be a column of a statement two levels up.
    return sa.or_(own.correlate_except(file), in_project.correlate_except(held, member))
