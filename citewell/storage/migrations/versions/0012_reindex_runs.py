"""Re-index runs over many files, with their progress."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0012_reindex_runs"
down_revision = "0011_sql_functions"


def upgrade() -> None:
    """Adds the table, and to resources the run that last reprocessed them."""
    op.create_table(
        "reindex_runs",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("selection", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_reindex_runs_owner_created", "reindex_runs", ["owner_id", "created_at"])
    op.add_column("resources", sa.Column("reindex_id", sa.String(36)))
    op.create_index("ix_resources_reindex_id", "resources", ["reindex_id"])
