"""The tables of the audit log. Triggers created by its migration reject changes and deletions."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, Json, Time, metadata, owner_column

audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("at", Time, nullable=False),
    # the owner whose log it is in; null if it concerns none, or one that was erased
    owner_column(nullable=True),
    sa.Column("actor", sa.Text, nullable=False),
    # the owner who acted, and the session, token, link or trigger
    sa.Column("actor_id", Id),
    sa.Column("credential_id", sa.Text),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("subject", sa.Text),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("status", sa.Integer),
    sa.Column("network", sa.Text, nullable=False),
    sa.Column("request_id", Id, nullable=False, unique=True),
    sa.Index("ix_audit_log_owner_number", "owner_id", "number"),
    sa.Index("ix_audit_log_at", "at"),
    sqlite_autoincrement=True,
)

# Changes in progress. Entries left here by a stopped server are moved to the log.
audit_begun = sa.Table(
    "audit_begun",
    metadata,
    sa.Column("request_id", Id, primary_key=True),
    owner_column(nullable=True),
    sa.Column("at", Time, nullable=False),
    sa.Column("entry", Json, nullable=False),
    sa.Index("ix_audit_begun_owner_id", "owner_id"),
)

# Permits a transaction to delete entries before a time, or of an erased owner. The transaction removes its row again.
audit_removals = sa.Table(
    "audit_removals",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("before", Time),
    sa.Column("subject", Id),
)
