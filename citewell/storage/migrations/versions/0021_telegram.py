"""The Telegram bot: links, received updates, conversations, and files with their messages."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0021_telegram"
down_revision = "0020_sources"


def _id(name: str, *, primary_key: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, primary_key=primary_key, autoincrement=False)


def _owner(*, primary_key: bool = False) -> sa.Column[str]:
    foreign = sa.ForeignKey("owners.id", ondelete="CASCADE")
    return sa.Column("owner_id", sa.String(36), foreign, nullable=False, primary_key=primary_key)


def upgrade() -> None:
    """Creates the tables."""
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.create_table(
        "telegram_links",
        _id("user_id", primary_key=True),
        _owner(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("linked_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_telegram_links_owner_id", "telegram_links", ["owner_id"])
    op.create_table(
        "telegram_codes",
        sa.Column("code_hash", sa.String(64), primary_key=True),
        _owner(),
        sa.Column("expires_at", sa.Double(), nullable=False),
    )
    op.create_table(
        "telegram_guesses",
        _id("user_id", primary_key=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
    )
    op.create_table(
        "telegram_updates",
        _id("bot_id", primary_key=True),
        _id("update_id", primary_key=True),
        _id("chat_id"),
        sa.Column("body", json, nullable=False),
        sa.Column("progress", json, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("done_at", sa.Double()),
    )
    op.create_index("ix_telegram_updates_bot_id_done_at", "telegram_updates", ["bot_id", "done_at"])
    op.create_table(
        "telegram_threads",
        _id("chat_id", primary_key=True),
        _id("topic_id", primary_key=True),
        _id("user_id", primary_key=True),
        _owner(primary_key=True),
        sa.Column("thread_id", sa.String(36), sa.ForeignKey("threads.id", ondelete="SET NULL")),
        sa.Column("scope", json, nullable=False),
    )
    _files()


def _files() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    resource = sa.ForeignKey("resources.id", ondelete="CASCADE")
    op.create_table(
        "telegram_files",
        _id("bot_id", primary_key=True),
        _id("chat_id", primary_key=True),
        _id("message_id", primary_key=True),
        _owner(),
        sa.Column("resource_id", sa.String(36), resource, nullable=False),
        _id("topic_id"),
        _id("user_id"),
        sa.Column("language", sa.String(8), nullable=False),
        _id("status_message_id"),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("question", json, nullable=False),
        sa.Column("expires_at", sa.Double()),
        sa.Column("announced_at", sa.Double()),
        sa.Column("finished_at", sa.Double()),
    )
    op.create_index("ix_telegram_files_resource_id", "telegram_files", ["resource_id"])
    op.create_index("ix_telegram_files_expires_at", "telegram_files", ["expires_at"])
