"""The tables of webhooks, triggers, and files uploaded to Anthropic."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, Json, Time, metadata, owner_column

# URLs to which owners have events sent. `turn`: when one of its deliveries was last leased.
webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("events", Json, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    # stored in plain text, because it signs deliveries
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("turn", Time, nullable=False, server_default="0"),
    # the token that it was made with, and ends with
    sa.Column("made_with", Id),
    sa.Index("ix_webhooks_owner_created", "owner_id", "created_at", "id"),
)

# The outbox: deliveries, written with the change that they report. `id` is derived from the webhook and the event's
# key.
webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("webhook_id", Id, sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    owner_column(),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    # the file or message that the body is about; the body is emptied when it is deleted
    sa.Column("about", Id, index=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", Time, nullable=False),
    # when it was created or last replayed; retries end a day later
    sa.Column("started_at", Time, nullable=False),
    sa.Column("due", Time, nullable=False),
    sa.Column("lease", Id),
    sa.Column("lease_worker", sa.Text),
    sa.Column("lease_until", Time),
    sa.Column("status", sa.Integer),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Index("ix_webhook_deliveries_state_due", "state", "due"),
    sa.Index("ix_webhook_deliveries_webhook", "webhook_id", "state", "due"),
    sa.Index("ix_webhook_deliveries_owner", "owner_id", "created_at", "id"),
)

# URLs of this server that other programs call, each with its own secret.
triggers = sa.Table(
    "triggers",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("project", sa.Text),
    sa.Column("secret_hash", sa.String(64), nullable=False),
    sa.Column("created_at", Time, nullable=False),
    # the token that it was made with, and ends with
    sa.Column("made_with", Id),
    sa.Index("ix_triggers_owner_created", "owner_id", "created_at", "id"),
)

# Trigger calls by idempotency key, so that a repeated call returns the same answer and is not executed again.
trigger_calls = sa.Table(
    "trigger_calls",
    metadata,
    sa.Column(
        "trigger_id", Id, sa.ForeignKey("triggers.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("body_hash", sa.String(64), nullable=False),
    # null while in progress
    sa.Column("answer", Json),
    # for a question, the message of its answer; the stored answer is emptied when a cited file is deleted
    sa.Column("message_id", Id, index=True),
    sa.Column("lease", Id, nullable=False),
    sa.Column("lease_until", Time, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index("ix_trigger_calls_created", "created_at"),
)

# Files uploaded to Anthropic. A row outlives its resource until the upload is deleted there.
claude_files = sa.Table(
    "claude_files",
    metadata,
    sa.Column("resource_id", Id, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    owner_column(),
    sa.Column("file_id", sa.Text, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index("ix_claude_files_owner", "owner_id"),
)
