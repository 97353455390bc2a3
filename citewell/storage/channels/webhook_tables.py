"""The tables of webhooks and triggers, and of files that were uploaded to Anthropic."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, Json, Time, metadata, owner_column

# Addresses that owners want told of events. `turn` is when one of its deliveries was last leased.
webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("events", Json, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    # signs what is sent, so it is kept as it is
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("turn", Time, nullable=False, server_default="0"),
    # the token that it was made with, and ends with
    sa.Column("made_with", Id),
    sa.Index("ix_webhooks_owner_created", "owner_id", "created_at", "id"),
)

# The outbox: what is to be sent, written with the change that it tells of. `id` is made of the webhook and the event's key.
webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("webhook_id", Id, sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    owner_column(),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    # the file or the message that the body tells of: with it, the body is emptied
    sa.Column("about", Id, index=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", Time, nullable=False),
    # when it was made or last replayed: the day of attempts counts from there
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

# Addresses of this server that other programs call, each with a secret of its own.
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

# Calls of triggers by the key that names them, so that a repeated one is answered as it was and done once.
trigger_calls = sa.Table(
    "trigger_calls",
    metadata,
    sa.Column(
        "trigger_id", Id, sa.ForeignKey("triggers.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("body_hash", sa.String(64), nullable=False),
    # None while it is being done
    sa.Column("answer", Json),
    # the message that it quotes, of a question: with what that cites, the answer is emptied
    sa.Column("message_id", Id, index=True),
    sa.Column("lease", Id, nullable=False),
    sa.Column("lease_until", Time, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index("ix_trigger_calls_created", "created_at"),
)

# Files that were uploaded to Anthropic. A row outlives its resource, until the upload is deleted there.
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
