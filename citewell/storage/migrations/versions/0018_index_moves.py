"""Index builds: place, progress, options, cost, and the reason for waiting."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0018_index_moves"
down_revision = "0017_point_ledger"
_COPY = """
    INSERT INTO indexes_new (id, fingerprint, store, state, role, settings, progress, total, created_at, activated_at)
    SELECT id, fingerprint, store, state, role, settings, progress, total, created_at, activated_at FROM indexes
"""


def upgrade() -> None:
    """Recreates the table, as SQLite cannot change a unique constraint.

    Two indexes of one model may now be in two places of one kind.
    """
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.create_table(
        "indexes_new",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("store", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False, server_default=""),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("settings", json, nullable=False),
        sa.Column("progress", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("total", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("activated_at", sa.Double()),
        sa.Column("configured_at", sa.Double()),
        sa.Column("is_behind", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("build", json, nullable=False, server_default="{}"),
        sa.Column("moved_to", sa.Text(), nullable=False, server_default=""),
        sa.Column("paused", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("problem", sa.Text(), nullable=False, server_default=""),
        sa.Column("spent", sa.Double(), nullable=False, server_default="0"),
        sa.Column("lease_worker", sa.Text()),
        sa.Column("lease_until", sa.Double()),
        sa.UniqueConstraint("fingerprint", "store", "place", name="uq_indexes_model_and_place"),
    )
    op.execute(sa.text(_COPY))
    op.drop_table("indexes")
    op.rename_table("indexes_new", "indexes")
