"""Unfinished deletions, so that a restart completes them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003_deletions"
down_revision = "0002_fair_queue"


def upgrade() -> None:
    """Adds the table."""
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.create_table(
        "deletions",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("resource_ids", json, nullable=False),
        sa.Column("blob_keys", json, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
