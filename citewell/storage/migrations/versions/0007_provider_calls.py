"""Provider calls within the last minute, and their cost per month, shared by all workers on a database."""

import sqlalchemy as sa
from alembic import op

revision = "0007_provider_calls"
down_revision = "0003_deletions"


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "provider_calls",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
    )
    op.create_index("ix_provider_calls_provider_at", "provider_calls", ["provider", "at"])
    op.create_table(
        "spending",
        sa.Column("month", sa.String(7), primary_key=True),
        sa.Column("dollars", sa.Double(), nullable=False),
    )
