"""What is remembered of conversations: who allows it, vectors of exchanges, what answers quote, and answers that may be given again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0035_memory"
down_revision = "0034_expiry"


def _message(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False)


def _owner() -> sa.Column[str]:
    return sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False)


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "conversation_memories",
        _owner(),
        sa.Column("since", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", name="pk_conversation_memories"),
    )
    op.create_table(
        "exchange_vectors",
        _message("message_id"),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_exchange_vectors"),
    )
    op.create_table(
        "remembered",
        _message("message_id"),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        _message("source_id"),
        sa.Column("data", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("message_id", "ordinal", name="pk_remembered"),
    )
    op.create_index("ix_remembered_source_id", "remembered", ["source_id"])
    op.create_table(
        "answers_kept",
        _message("message_id"),
        _owner(),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_answers_kept"),
    )
    op.create_index("ix_answers_kept_owner_key", "answers_kept", ["owner_id", "key", "created_at"])
