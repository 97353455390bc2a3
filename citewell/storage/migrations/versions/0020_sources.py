"""Synced sources and their imported items."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020_sources"
down_revision = "0019_accounts"


def upgrade() -> None:
    """Creates both tables."""
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.create_table(
        "sources",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("cursor", sa.Text()),
        sa.Column("report", json, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
        sa.UniqueConstraint("owner_id", "name", name="uq_sources_owner_id_name"),
    )
    op.create_table(
        "source_items",
        sa.Column("source_id", sa.String(36), sa.ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.String(36)),
        sa.Column("keys", json, nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("problem_code", sa.Text()),
        sa.Column("updated_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_source_items_resource_id", "source_items", ["resource_id"])
