"""What finds a picture by an example. Files that were read before have none until they are read again."""

import sqlalchemy as sa
from alembic import op

revision = "0036_pictures"
down_revision = "0035_memory"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "picture_likenesses",
        sa.Column("resource_id", sa.String(36), sa.ForeignKey("resources.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("picture_likenesses")
