"""Lifetimes of files, which only those sent to the Telegram bot had, receipts of expired files, a share of calls for queries, and an index."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0034_expiry"
down_revision = "0033_made_with"

# A file that was sent several times expires last of all. The notice comes a day before, or in the last quarter of its lifetime.
_MOVED = """
UPDATE resources SET
  expires_at = (SELECT max(f.expires_at) FROM telegram_files f WHERE f.resource_id = resources.id),
  notice_at = (SELECT CASE WHEN max(f.announced_at) IS NOT NULL THEN NULL
                           WHEN max(f.expires_at) - resources.created_at > 345600 THEN max(f.expires_at) - 86400
                           ELSE max(f.expires_at) - (max(f.expires_at) - resources.created_at) / 4 END
               FROM telegram_files f WHERE f.resource_id = resources.id)
WHERE id IN (SELECT resource_id FROM telegram_files WHERE expires_at IS NOT NULL)
"""


def upgrade() -> None:
    """Adds the columns and the table, and moves the lifetimes of files sent to the bot."""
    op.add_column("resources", sa.Column("expires_at", sa.Double()))
    op.add_column("resources", sa.Column("notice_at", sa.Double()))
    op.create_index("ix_resources_expires_at", "resources", ["expires_at"])
    op.execute(sa.text(_MOVED))
    op.drop_index("ix_telegram_files_expires_at", "telegram_files")
    op.drop_column("telegram_files", "expires_at")
    op.drop_column("telegram_files", "announced_at")
    op.create_table(
        "expired_files",
        sa.Column("resource_id", sa.String(36), primary_key=True),
        sa.Column("owner_id", sa.String(36), sa.ForeignKey("owners.id", ondelete="CASCADE"), nullable=False),
        sa.Column("deleted_at", sa.Double(), nullable=False),
        sa.Column("receipt", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    )
    op.create_index("ix_expired_files_owner_deleted", "expired_files", ["owner_id", "deleted_at", "resource_id"])
    op.create_index("ix_expired_files_deleted_at", "expired_files", ["deleted_at"])
    if op.get_bind().dialect.name == "postgresql":  # for the column `airtable_record_id` of the view `frame_chunks`
        op.execute(
            "CREATE INDEX ix_resources_airtable_record_id ON resources "
            "(owner_id, (coalesce(metadata ->> 'source_airtable_id', record_id, id)))"
        )
    op.add_column("provider_calls", sa.Column("is_query", sa.Boolean(), server_default=sa.true(), nullable=False))
