"""Requests per minute, counted across all servers on a database."""

import sqlalchemy as sa
from alembic import op

revision = "0016_shared_counts"
down_revision = "0012_reindex_runs"


def upgrade() -> None:
    """Adds a row per owner."""
    op.create_table(
        "request_counts",
        sa.Column("owner_id", sa.String(36), primary_key=True),
        sa.Column("minute", sa.Integer(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], ondelete="CASCADE"),
    )
