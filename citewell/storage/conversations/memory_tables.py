"""The tables of what is remembered of conversations. Every row ends with the message that it is about."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, Json, Time, metadata, owner_column


def _message(name: str = "message_id", *, primary_key: bool = False, index: bool = False) -> sa.Column[str]:
    to = sa.ForeignKey("messages.id", ondelete="CASCADE")
    return sa.Column(name, Id, to, primary_key=primary_key, index=index, nullable=False)


# People whose earlier conversations are searched.
conversation_memories = sa.Table(
    "conversation_memories",
    metadata,
    owner_column(primary_key=True),
    sa.Column("since", Time, nullable=False),
)

# The vector of a message with its answer.
exchange_vectors = sa.Table(
    "exchange_vectors",
    metadata,
    _message(primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False),
)

# What an answer quotes from an earlier conversation; it ends with either.
remembered = sa.Table(
    "remembered",
    metadata,
    _message(primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    _message("source_id", index=True),
    sa.Column("data", Json, nullable=False),
)

# Answers that may be given again, found by their scope and the state of its files.
answers_kept = sa.Table(
    "answers_kept",
    metadata,
    _message(primary_key=True),
    owner_column(),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("created_at", Time, nullable=False),
    sa.Index("ix_answers_kept_owner_key", "owner_id", "key", "created_at"),
)
