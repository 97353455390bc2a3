"""Fair queues: when each resource is due, when each owner last had a turn, and an index for leasing."""

import sqlalchemy as sa
from alembic import op

revision = "0002_fair_queue"
down_revision = "0001"


def upgrade() -> None:
    """Adds the columns and the index; queued resources keep their order."""
    op.add_column("resources", sa.Column("due", sa.Double(), server_default="0", nullable=False))
    op.execute("UPDATE resources SET due = created_at")
    op.create_index("ix_resources_queue", "resources", ["status", "owner_id", "due", "id"])
    op.add_column("owners", sa.Column("extract_turn", sa.Double(), server_default="0", nullable=False))
    op.add_column("owners", sa.Column("index_turn", sa.Double(), server_default="0", nullable=False))
