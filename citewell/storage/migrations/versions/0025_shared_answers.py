"""Links to single answers."""

import sqlalchemy as sa
from alembic import op

revision = "0025_shared_answers"
down_revision = "0024_waiting_vectors"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "shared_answers",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False),
        sa.Column("message_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_shared_answers_owner_id", "shared_answers", ["owner_id"])
    op.create_index("ix_shared_answers_message_id", "shared_answers", ["message_id"])
