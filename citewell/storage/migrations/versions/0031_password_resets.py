"""Password reset secrets."""

import sqlalchemy as sa
from alembic import op

revision = "0031_password_resets"
down_revision = "0030_contained_files"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "password_resets",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column(
            "person_id",
            sa.String(36),
            sa.ForeignKey("people.id", ondelete="CASCADE", name="fk_password_resets_person_id_people"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.Double, nullable=False),
    )
    op.create_index("ix_password_resets_person_id", "password_resets", ["person_id"])


def downgrade() -> None:
    """Removes the table."""
    op.drop_table("password_resets")
