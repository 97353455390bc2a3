"""Webhooks with their deliveries, triggers with their calls, and files uploaded to Anthropic."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0022_webhooks"
down_revision = "0021_telegram"


def _json() -> sa.JSON:
    return sa.JSON().with_variant(JSONB(), "postgresql")


def _owner() -> sa.Column[str]:
    return sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False)


def upgrade() -> None:
    """Creates the tables."""
    _webhooks()
    _deliveries()
    _triggers()
    op.create_table(
        "claude_files",
        sa.Column("resource_id", sa.String(36), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        _owner(),
        sa.Column("file_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_claude_files_owner", "claude_files", ["owner_id"])


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(36), primary_key=True),
        _owner(),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", _json(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False, server_default=""),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("turn", sa.Double(), nullable=False, server_default="0"),
    )
    op.create_index("ix_webhooks_owner_created", "webhooks", ["owner_id", "created_at", "id"])


def _deliveries() -> None:
    webhook = sa.ForeignKey("webhooks.id", ondelete="CASCADE")
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("webhook_id", sa.String(36), webhook, nullable=False),
        _owner(),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("lease", sa.String(36)),
        sa.Column("lease_worker", sa.Text()),
        sa.Column("lease_until", sa.Double()),
        sa.Column("status", sa.Integer()),
        sa.Column("problem", sa.Text(), nullable=False, server_default=""),
    )
    op.create_index("ix_webhook_deliveries_state_due", "webhook_deliveries", ["state", "due"])
    op.create_index("ix_webhook_deliveries_webhook", "webhook_deliveries", ["webhook_id", "state", "due"])
    op.create_index("ix_webhook_deliveries_owner", "webhook_deliveries", ["owner_id", "created_at", "id"])


def _triggers() -> None:
    op.create_table(
        "triggers",
        sa.Column("id", sa.String(36), primary_key=True),
        _owner(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project", sa.Text()),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_triggers_owner_created", "triggers", ["owner_id", "created_at", "id"])
    trigger = sa.ForeignKey("triggers.id", ondelete="CASCADE")
    op.create_table(
        "trigger_calls",
        sa.Column("trigger_id", sa.String(36), trigger, primary_key=True, autoincrement=False),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("body_hash", sa.String(64), nullable=False),
        sa.Column("answer", _json()),
        sa.Column("lease", sa.String(36), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_trigger_calls_created", "trigger_calls", ["created_at"])
