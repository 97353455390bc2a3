"""Accounts: people, their sessions, members and invitations; and token scopes."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0019_accounts"
down_revision = "0018_index_moves"


def _id(name: str, refers_to: str | None = None, **options: Any) -> sa.Column[str]:
    foreign = [sa.ForeignKey(refers_to, ondelete="CASCADE")] if refers_to else []
    options.setdefault("nullable", False)
    return sa.Column(name, sa.String(36), *foreign, **options)


def upgrade() -> None:
    """Adds tables and columns; existing tokens keep full access."""
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("tokens", sa.Column("prefix", sa.Text()))
    op.add_column("tokens", sa.Column("scopes", json))
    op.add_column("tokens", sa.Column("project_ids", json))
    op.add_column("tokens", sa.Column("last_used_at", sa.Double()))
    op.create_table(
        "people",
        _id("id", primary_key=True),
        _id("owner_id", "owners.id", unique=True),
        sa.Column("email", sa.Text(), nullable=False, unique=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text()),
        sa.Column("is_administrator", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text()),
        sa.Column("subject", sa.Text()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.UniqueConstraint("issuer", "subject"),
    )
    op.create_table(
        "sessions",
        _id("id", primary_key=True),
        _id("person_id", "people.id", index=True),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_used_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double()),
    )
    op.create_table(
        "refresh_tokens",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        _id("session_id", "sessions.id", index=True),
        sa.Column("used_at", sa.Double()),
    )
    op.create_table(
        "attempts",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("tried", sa.Integer(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
    )
    op.create_table(
        "memberships",
        _id("project_id", "projects.id", primary_key=True),
        _id("member_id", "owners.id", primary_key=True, index=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_table(
        "invitations",
        _id("id", primary_key=True),
        _id("invited_by", "owners.id", index=True),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("email", sa.Text()),
        _id("project_id", "projects.id", nullable=True),
        sa.Column("role", sa.Text()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double()),
    )
