"""Files inside other files, including ones that the owner had before their container."""

import sqlalchemy as sa
from alembic import op

revision = "0030_contained_files"
down_revision = "0029_quotas"


def upgrade() -> None:
    """Creates the table, and fills it from `parent_id`."""
    op.create_table("contained_files", _file("container_id"), _file("resource_id"))
    op.create_index("ix_contained_files_resource_id", "contained_files", ["resource_id"])
    op.execute(
        "INSERT INTO contained_files (container_id, resource_id) "
        "SELECT parent_id, id FROM resources WHERE parent_id IS NOT NULL"
    )


def _file(column: str) -> sa.Column[str]:
    name = f"fk_contained_files_{column}_resources"
    file = sa.ForeignKey("resources.id", ondelete="CASCADE", name=name)
    return sa.Column(column, sa.String(36), file, primary_key=True)


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("contained_files")
