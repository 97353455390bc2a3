"""The tables of the Telegram bot. Ids of users, chats and messages are Telegram's.

`bot_id` distinguishes bots, each of which numbers its own updates.
"""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, Json, Time, metadata, owner_column

telegram_links = sa.Table(
    "telegram_links",
    metadata,
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    owner_column(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("linked_at", Time, nullable=False),
    sa.Index("ix_telegram_links_owner_id", "owner_id"),
)

telegram_codes = sa.Table(
    "telegram_codes",
    metadata,
    sa.Column("code_hash", sa.String(64), primary_key=True),
    owner_column(),
    sa.Column("expires_at", Time, nullable=False),
)

# Failed attempts to enter a link code, by user, and when they began.
telegram_guesses = sa.Table(
    "telegram_guesses",
    metadata,
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("since", Time, nullable=False),
)

# Every update from Telegram, until a week after it is done. `progress`: the steps already done, in case of a restart.
telegram_updates = sa.Table(
    "telegram_updates",
    metadata,
    sa.Column("bot_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("update_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("chat_id", sa.BigInteger, nullable=False),
    sa.Column("body", Json, nullable=False),
    sa.Column("progress", Json, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("received_at", Time, nullable=False),
    sa.Column("done_at", Time),
    sa.Index("ix_telegram_updates_bot_id_done_at", "bot_id", "done_at"),
)

# The conversation of each user in each chat and topic: its thread, and the scope of its questions.
telegram_threads = sa.Table(
    "telegram_threads",
    metadata,
    sa.Column("chat_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("topic_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
    owner_column(primary_key=True),
    sa.Column("thread_id", Id, sa.ForeignKey("threads.id", ondelete="SET NULL")),
    sa.Column("scope", Json, nullable=False),
)

# Files sent to the bot, and the message that shows each one's progress.
telegram_files = sa.Table(
    "telegram_files",
    metadata,
    sa.Column("bot_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("chat_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("message_id", sa.BigInteger, primary_key=True, autoincrement=False),
    owner_column(),
    sa.Column("resource_id", Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), nullable=False),
    sa.Column("topic_id", sa.BigInteger, nullable=False),
    sa.Column("user_id", sa.BigInteger, nullable=False),
    sa.Column("language", sa.String(8), nullable=False),
    sa.Column("status_message_id", sa.BigInteger, nullable=False),
    # the state shown in its status message
    sa.Column("shown", sa.Text, nullable=False),
    # a question in the caption, as the update to process once the file is indexed
    sa.Column("question", Json, nullable=False),
    sa.Column("finished_at", Time),
    sa.Index("ix_telegram_files_resource_id", "resource_id"),
)
