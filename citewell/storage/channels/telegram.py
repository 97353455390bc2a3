"""What the Telegram bot keeps: who is linked to which owner, updates that came, conversations, and files with their messages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.accounts.tables import is_suspended
from citewell.storage.channels.telegram_tables import (
    telegram_codes,
    telegram_files,
    telegram_guesses,
    telegram_links,
    telegram_threads,
    telegram_updates,
)
from citewell.storage.database import Database, insert_new, upsert
from citewell.types import JsonObject, JsonValue

_KEPT_SECONDS = 7 * 86_400.0
"""Telegram sends an update again for a day at most; a week leaves room for a stopped clock."""

_ALBUM_REACH = 100
"""How many updates of a chat are looked through for an album, whose messages, ten at most, come one after the other."""


@dataclass(frozen=True, slots=True)
class TelegramLink:
    """A user of Telegram who is linked to an owner."""

    user_id: int
    name: str
    linked_at: float


@dataclass(frozen=True, slots=True)
class TelegramUpdate:
    """An update that is not done yet; progress: what was done of it, before the process ended perhaps."""

    bot_id: int
    update_id: int
    chat_id: int
    body: JsonObject
    progress: JsonObject = field(default_factory=dict[str, JsonValue])
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramPlace:
    """Where a user writes: a chat, and a topic of it (0 outside topics)."""

    chat_id: int
    topic_id: int
    user_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramConversation:
    """A user's conversation at a place: its thread, and what its questions are about."""

    thread_id: str | None = None
    scope: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramFile:
    """A file that was sent to the bot; see the table for what the fields mean."""

    bot_id: int
    chat_id: int
    message_id: int
    owner_id: str
    resource_id: str
    topic_id: int
    user_id: int
    language: str
    status_message_id: int
    shown: str = ""
    question: JsonObject = field(default_factory=dict[str, JsonValue])
    expires_at: float | None = None
    announced_at: float | None = None
    finished_at: float | None = None


class TelegramLinkRepository:
    """Who in Telegram is which owner here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_code(self, owner_id: str, code_hash: str, expires_at: float) -> None:
        """Keep a code's hash; an owner has one code at a time."""
        async with self._database.write() as connection:
            old = sa.or_(telegram_codes.c.owner_id == owner_id, telegram_codes.c.expires_at < time.time())
            await connection.execute(sa.delete(telegram_codes).where(old))
            await connection.execute(
                sa.insert(telegram_codes).values(code_hash=code_hash, owner_id=owner_id, expires_at=expires_at)
            )

    async def redeem(self, user_id: int, name: str, code_hash: str) -> str | None:
        """Link a user to the owner of a valid code, which is used up; None for a code that is not one."""
        now = time.time()
        used = (
            sa.delete(telegram_codes)
            .where(telegram_codes.c.code_hash == code_hash, telegram_codes.c.expires_at > now)
            .returning(telegram_codes.c.owner_id)
        )
        async with self._database.write() as connection:
            owner_id = await connection.scalar(used)
            if owner_id is None:
                return None
            columns = telegram_links.c
            said = {columns.owner_id: owner_id, columns.name: name, columns.linked_at: now}
            await upsert(connection, {columns.user_id: user_id, **said}, said)
            await connection.execute(sa.delete(telegram_guesses).where(telegram_guesses.c.user_id == user_id))
        return owner_id

    async def count_guess(self, user_id: int, seconds: float) -> int:
        """Count a try of a code by a user; how many there were in the last so many seconds, this one included."""
        now, columns = time.time(), telegram_guesses.c
        recent = columns.since > now - seconds
        async with self._database.write() as connection:
            row = await upsert(
                connection,
                {columns.user_id: user_id, columns.tries: 1, columns.since: now},
                {
                    columns.tries: sa.case((recent, columns.tries + 1), else_=1),
                    columns.since: sa.case((recent, columns.since), else_=now),
                },
            )
        return int(row.tries)

    async def owner_of(self, user_id: int) -> str | None:
        """The owner that a user is linked to; None while that owner is suspended."""
        owner = telegram_links.c.owner_id
        rows = await self._database.rows(
            sa.select(owner).where(telegram_links.c.user_id == user_id, sa.not_(is_suspended(owner)))
        )
        return rows[0]["owner_id"] if rows else None

    async def is_linked(self, user_id: int) -> bool:
        """Whether a user is linked to an owner, who may be suspended."""
        query = sa.select(telegram_links.c.user_id).where(telegram_links.c.user_id == user_id)
        return bool(await self._database.rows(query))

    async def links(self, owner_id: str) -> list[TelegramLink]:
        """The users who are linked to an owner, newest first."""
        columns = telegram_links.c
        query = (
            sa.select(columns.user_id, columns.name, columns.linked_at)
            .where(columns.owner_id == owner_id)
            .order_by(columns.linked_at.desc(), columns.user_id)
        )
        return [TelegramLink(**row) for row in await self._database.rows(query)]

    async def unlink(self, owner_id: str, user_id: int) -> None:
        """End a link; `NotFound` where the user is not linked to this owner."""
        columns = telegram_links.c
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.delete(telegram_links).where(columns.user_id == user_id, columns.owner_id == owner_id)
            )
        if not done.rowcount:
            raise NotFound("This Telegram account is not linked to you.")


class TelegramInboxRepository:
    """Updates, each stored once, before it is acknowledged to Telegram, and handled one by one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, bot_id: int, updates: Iterable[tuple[int, int, JsonObject]]) -> list[int]:
        """Keep updates, each with its id and its chat's; returns the ids of those that had not been seen."""
        new: list[int] = []
        async with self._database.write() as connection:
            for update_id, chat_id, body in updates:
                made = insert_new(connection, telegram_updates).values(
                    bot_id=bot_id,
                    update_id=update_id,
                    chat_id=chat_id,
                    body=body,
                    progress={},
                    attempts=0,
                    received_at=time.time(),
                )
                if (await connection.execute(made)).rowcount:
                    new.append(update_id)
        return new

    async def pending(self, bot_id: int) -> Sequence[TelegramUpdate]:
        """What is not done yet, in the order in which it was written."""
        columns = telegram_updates.c
        query = (
            sa.select(*(columns[one.name] for one in fields(TelegramUpdate)))
            .where(columns.bot_id == bot_id, columns.done_at.is_(None))
            .order_by(columns.update_id)
        )
        return [TelegramUpdate(**row) for row in await self._database.rows(query)]

    async def note(self, update: TelegramUpdate, progress: JsonObject) -> None:
        """Remember how far an update is."""
        await self._change(update, progress=progress)

    async def tried(self, update: TelegramUpdate, attempts: int) -> None:
        """Remember how often an update has failed."""
        await self._change(update, attempts=attempts)

    async def album(self, bot_id: int, place: TelegramPlace, album: str) -> int | None:
        """The message of a user's album that is done and was meant for the bot; None where there is none (yet)."""
        columns = telegram_updates.c
        query = (
            sa.select(columns.progress)
            .where(columns.bot_id == bot_id, columns.chat_id == place.chat_id, columns.done_at.is_not(None))
            .order_by(columns.update_id.desc())
            .limit(_ALBUM_REACH)
        )
        wanted = {"album": album, "user": place.user_id}
        found = [row["progress"] for row in await self._database.rows(query)]
        numbers = [one["message"] for one in found if wanted.items() <= one.items()]
        return min(numbers, default=None)

    async def done(self, update: TelegramUpdate, kept: JsonObject) -> None:
        """An update needs nothing more; what was written in it is forgotten but for what is `kept`, and after a week that it came."""
        now = time.time()
        await self._change(update, done_at=now, body={}, progress=kept)
        async with self._database.write() as connection:
            old = telegram_updates.c.done_at < now - _KEPT_SECONDS
            await connection.execute(sa.delete(telegram_updates).where(old))

    async def _change(self, update: TelegramUpdate, **values: object) -> None:
        columns = telegram_updates.c
        one = sa.and_(columns.bot_id == update.bot_id, columns.update_id == update.update_id)
        async with self._database.write() as connection:
            await connection.execute(sa.update(telegram_updates).where(one).values(**values))


class TelegramChatRepository:
    """Conversations and files of the bot's chats."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def conversation(self, owner_id: str, place: TelegramPlace) -> TelegramConversation:
        """The conversation at a place; an empty one where there is none, and where the user was another owner."""
        columns = telegram_threads.c
        query = sa.select(columns.thread_id, columns.scope).where(_at(place), columns.owner_id == owner_id)
        rows = await self._database.rows(query)
        return TelegramConversation(**rows[0]) if rows else TelegramConversation()

    async def keep_conversation(self, owner_id: str, place: TelegramPlace, kept: TelegramConversation) -> None:
        """Keep the conversation at a place."""
        columns = telegram_threads.c
        said = {columns.thread_id: kept.thread_id, columns.scope: kept.scope}
        key: dict[sa.Column[Any], Any] = {
            columns.chat_id: place.chat_id,
            columns.topic_id: place.topic_id,
            columns.user_id: place.user_id,
            columns.owner_id: owner_id,
        }
        async with self._database.write() as connection:
            await upsert(connection, {**key, **said}, said)

    async def leave(self, owner_id: str, user_id: int) -> None:
        """Forget where an owner's user wrote what; threads and files stay."""
        columns = telegram_threads.c
        async with self._database.write() as connection:
            await connection.execute(
                sa.delete(telegram_threads).where(columns.user_id == user_id, columns.owner_id == owner_id)
            )

    async def add_file(self, file: TelegramFile) -> None:
        """Keep a file that was sent, once."""
        values = {one.name: getattr(file, one.name) for one in fields(TelegramFile)}
        async with self._database.write() as connection:
            await connection.execute(insert_new(connection, telegram_files).values(**values))

    async def file(self, bot_id: int, chat_id: int, message_id: int) -> TelegramFile | None:
        """The file that a message brought, if it is still there."""
        columns = telegram_files.c
        one = (columns.bot_id == bot_id, columns.chat_id == chat_id, columns.message_id == message_id)
        found = await self._files(sa.and_(*one))
        return found[0] if found else None

    async def unfinished(self, bot_id: int) -> list[TelegramFile]:
        """Files about which something is still to be said to somebody who is not suspended."""
        columns = telegram_files.c
        told = sa.not_(is_suspended(columns.owner_id))
        return await self._files(sa.and_(columns.bot_id == bot_id, columns.finished_at.is_(None), told))

    async def expiring(self, bot_id: int, before: float) -> list[TelegramFile]:
        """Files that are to be deleted before this time, the earliest first. Those of somebody suspended wait, as no notice can come first."""
        columns = telegram_files.c
        told = sa.not_(is_suspended(columns.owner_id))
        return await self._files(sa.and_(columns.bot_id == bot_id, columns.expires_at < before, told))

    async def may_be_told(self, file: TelegramFile) -> bool:
        """Whether the owner of a file is not suspended."""
        columns = telegram_files.c
        mine = sa.and_(columns.bot_id == file.bot_id, columns.chat_id == file.chat_id)
        told = sa.not_(is_suspended(columns.owner_id))
        return bool(await self._files(sa.and_(mine, columns.message_id == file.message_id, told)))

    async def keep_longer(self, owner_id: str, resource_id: str, expires_at: float) -> None:
        """A file was sent again: it is deleted later, where it is deleted at all."""
        columns = telegram_files.c
        one = (columns.resource_id == resource_id, columns.owner_id == owner_id, columns.expires_at < expires_at)
        async with self._database.write() as connection:
            await connection.execute(
                sa.update(telegram_files).where(*one).values(expires_at=expires_at, announced_at=None)
            )

    async def change_file(self, file: TelegramFile, **values: object) -> None:
        """Change what is kept of a file."""
        columns = telegram_files.c
        one = (
            columns.bot_id == file.bot_id,
            columns.chat_id == file.chat_id,
            columns.message_id == file.message_id,
        )
        async with self._database.write() as connection:
            await connection.execute(sa.update(telegram_files).where(*one).values(**values))

    async def _files(self, condition: sa.ColumnElement[bool]) -> list[TelegramFile]:
        columns = telegram_files.c
        query = (
            sa.select(*(columns[one.name] for one in fields(TelegramFile)))
            .where(condition)
            .order_by(columns.expires_at, columns.message_id)
        )
        return [TelegramFile(**row) for row in await self._database.rows(query)]


def _at(place: TelegramPlace) -> sa.ColumnElement[bool]:
    columns = telegram_threads.c
    return sa.and_(
        columns.chat_id == place.chat_id, columns.topic_id == place.topic_id, columns.user_id == place.user_id
    )
