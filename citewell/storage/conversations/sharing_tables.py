"""The table of links to single answers."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, Time, metadata, owner_column

shared_answers = sa.Table(
    "shared_answers",
    metadata,
    sa.Column("id", Id, primary_key=True),
    owner_column(index=True),
    # a link ends with its answer
    sa.Column("message_id", Id, sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False),
    # the token that created it and whose end revokes it
    sa.Column("made_with", Id),
)
