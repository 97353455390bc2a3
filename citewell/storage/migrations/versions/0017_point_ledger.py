"""The contents of vector stores that cannot count or search keywords: points with payloads, and the points' terms."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0017_point_ledger"
down_revision = "0016_shared_counts"


def upgrade() -> None:
    """Adds both tables."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "stored_points",
        sa.Column("n", number, primary_key=True, autoincrement=True),
        sa.Column("index_key", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("has_vector", sa.Boolean(), nullable=False),
        sa.Column("is_cut", sa.Boolean(), nullable=False),
        sa.Column("written", sa.Boolean(), nullable=False),
    )
    op.create_index("uq_stored_points_index_id", "stored_points", ["index_key", "id"], unique=True)
    op.create_index("ix_stored_points_owner", "stored_points", ["index_key", "owner_id", "resource_id"])
    op.create_table(
        "point_terms",
        sa.Column("term", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("n", number, primary_key=True, autoincrement=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["n"], ["stored_points.n"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_point_terms_n", "point_terms", ["n"])
