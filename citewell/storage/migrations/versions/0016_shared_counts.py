"""What several servers on one database count together: requests of a minute."""

import sqlalchemy as sa
from alembic import op

revision = "0016_shared_counts"
down_revision = "0012_reindex_runs"


def upgrade() -> None:
    """Add a row per owner."""
    op.create_table(
        "request_counts",
        sa.Column("owner_id", sa.String(36), primary_key=True),
        sa.Column("minute", sa.Integer(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], ondelete="CASCADE"),
    )
