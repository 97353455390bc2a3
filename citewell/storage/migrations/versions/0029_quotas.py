"""Quotas of owners, and question counts of owners with a question quota."""

import sqlalchemy as sa
from alembic import op

revision = "0029_quotas"
down_revision = "0028_service_accounts"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "owner_quotas",
        _owner("owner_quotas"),
        sa.Column("quota", sa.Text(), primary_key=True),
        sa.Column("most", sa.Double()),
    )
    op.create_table(
        "question_counts",
        _owner("question_counts"),
        sa.Column("month", sa.String(7), primary_key=True),
        sa.Column("asked", sa.BigInteger(), nullable=False),
    )


def _owner(table: str) -> sa.Column[str]:
    name = f"fk_{table}_owner_id_owners"
    owner = sa.ForeignKey("owners.id", ondelete="CASCADE", name=name)
    return sa.Column("owner_id", sa.String(36), owner, primary_key=True)


def downgrade() -> None:
    """Removes the tables."""
    op.drop_table("question_counts")
    op.drop_table("owner_quotas")
