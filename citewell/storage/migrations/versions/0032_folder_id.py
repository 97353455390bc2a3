"""Facts about the database itself, such as the id that pairs it with the folder of stored files."""

import sqlalchemy as sa
from alembic import op

revision = "0032_folder_id"
down_revision = "0031_password_resets"


def upgrade() -> None:
    """Creates the table."""
    op.create_table("meta", sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False))


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("meta")
