"""Service accounts: accounts of programs, each managed by an owner."""

import sqlalchemy as sa
from alembic import op

revision = "0028_service_accounts"
down_revision = "0026_audit_log"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "service_accounts",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False),
        sa.Column(
            "acts_as", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False, unique=True
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.UniqueConstraint("owner_id", "name"),
    )
    op.create_index("ix_service_accounts_owner_id", "service_accounts", ["owner_id"])
