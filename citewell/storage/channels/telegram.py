"""The Telegram bot's data: users linked to owners, received updates, conversations, files and their messages."""

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
"""Telegram resends an update for at most a day; a week allows for clock problems."""

_ALBUM_REACH = 100
"""Updates of a chat searched for an album's messages, which arrive in sequence and are ten at most."""


@dataclass(frozen=True, slots=True)
class TelegramLink:
    """A Telegram user linked to an owner."""

    user_id: int
    name: str
    linked_at: float


@dataclass(frozen=True, slots=True)
class TelegramUpdate:
    """An unfinished update. progress: the steps already done, possibly by an earlier process"""

    bot_id: int
    update_id: int
    chat_id: int
    body: JsonObject
    progress: JsonObject = field(default_factory=dict[str, JsonValue])
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramPlace:
    """Where a user writes: a chat, and a topic in it (0 outside topics)."""

    chat_id: int
    topic_id: int
    user_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramConversation:
    """A user's conversation at a place: its thread, and the scope of its questions."""

    thread_id: str | None = None
    scope: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramFile:
    """A file sent to the bot; see the table for the meaning of the fields."""

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
    finished_at: float | None = None


class TelegramLinkRepository:
    """Links between Telegram users and owners."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_code(self, owner_id: str, code_hash: str, expires_at: float) -> None:
        """Stores the hash of a link code, replacing the owner's previous one."""
        async with self._database.write() as connection:
            old = sa.or_(telegram_codes.c.owner_id == owner_id, telegram_codes.c.expires_at < time.time())
            await connection.execute(sa.delete(telegram_codes).where(old))
            await connection.execute(
                sa.insert(telegram_codes).values(code_hash=code_hash, owner_id=owner_id, expires_at=expires_at)
            )

    async def redeem(self, user_id: int, name: str, code_hash: str) -> str | None:
        """Uses up a link code and links the user to its owner, which it returns; None for an invalid code."""
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
        """Counts a user's attempt to enter a code; returns the attempts in the last `seconds`, this one included."""
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
        """Returns the owner that a user is linked to; None while that owner is suspended."""
        owner = telegram_links.c.owner_id
        rows = await self._database.rows(
            sa.select(owner).where(telegram_links.c.user_id == user_id, sa.not_(is_suspended(owner)))
        )
        return rows[0]["owner_id"] if rows else None

    async def is_linked(self, user_id: int) -> bool:
        """Whether a user is linked to an owner, even a suspended one."""
        query = sa.select(telegram_links.c.user_id).where(telegram_links.c.user_id == user_id)
        return bool(await self._database.rows(query))

    async def links(self, owner_id: str) -> list[TelegramLink]:
        """Returns the users linked to an owner, newest first."""
        columns = telegram_links.c
        query = (
            sa.select(columns.user_id, columns.name, columns.linked_at)
            .where(columns.owner_id == owner_id)
            .order_by(columns.linked_at.desc(), columns.user_id)
        )
        return [TelegramLink(**row) for row in await self._database.rows(query)]

    async def unlink(self, owner_id: str, user_id: int) -> None:
        """Removes a link. Raises `NotFound` if the user is not linked to this owner."""
        columns = telegram_links.c
        async with self._database.write() as connection:
            done = await connection.execute(
                sa.delete(telegram_links).where(columns.user_id == user_id, columns.owner_id == owner_id)
            )
        if not done.rowcount:
            raise NotFound("This Telegram account is not linked to you.")


class TelegramInboxRepository:
    """Received updates, each stored once before it is acknowledged to Telegram, and processed one by one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, bot_id: int, updates: Iterable[tuple[int, int, JsonObject]]) -> list[int]:
        """Stores updates, given with their ids and chat ids; returns the ids of new ones."""
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
        """Returns unfinished updates, in the order in which they were sent."""
        columns = telegram_updates.c
        query = (
            sa.select(*(columns[one.name] for one in fields(TelegramUpdate)))
            .where(columns.bot_id == bot_id, columns.done_at.is_(None))
            .order_by(columns.update_id)
        )
        return [TelegramUpdate(**row) for row in await self._database.rows(query)]

    async def note(self, update: TelegramUpdate, progress: JsonObject) -> None:
        """Records an update's progress."""
        await self._change(update, progress=progress)

    async def tried(self, update: TelegramUpdate, attempts: int) -> None:
        """Records how often an update has failed."""
        await self._change(update, attempts=attempts)

    async def album(self, bot_id: int, place: TelegramPlace, album: str) -> int | None:
        """Returns the message of a user's album that is done and was meant for the bot; None if there is none (yet)."""
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
        """Marks an update as done and replaces its content with `kept`; deletes updates done over a week ago."""
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
        """Returns the owner's conversation at a place, or an empty one."""
        columns = telegram_threads.c
        query = sa.select(columns.thread_id, columns.scope).where(_at(place), columns.owner_id == owner_id)
        rows = await self._database.rows(query)
        return TelegramConversation(**rows[0]) if rows else TelegramConversation()

    async def keep_conversation(self, owner_id: str, place: TelegramPlace, kept: TelegramConversation) -> None:
        """Stores the conversation at a place."""
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
        """Deletes the places of a user's conversations with an owner; threads and files stay."""
        columns = telegram_threads.c
        async with self._database.write() as connection:
            await connection.execute(
                sa.delete(telegram_threads).where(columns.user_id == user_id, columns.owner_id == owner_id)
            )

    async def add_file(self, file: TelegramFile) -> None:
        """Stores a sent file, once."""
        values = {one.name: getattr(file, one.name) for one in fields(TelegramFile)}
        async with self._database.write() as connection:
            await connection.execute(insert_new(connection, telegram_files).values(**values))

    async def file(self, bot_id: int, chat_id: int, message_id: int) -> TelegramFile | None:
        """Returns the file sent with a message, if it still exists."""
        columns = telegram_files.c
        one = (columns.bot_id == bot_id, columns.chat_id == chat_id, columns.message_id == message_id)
        found = await self._files(sa.and_(*one))
        return found[0] if found else None

    async def unfinished(self, bot_id: int) -> list[TelegramFile]:
        """Returns files of active owners that still need a status message."""
        columns = telegram_files.c
        told = sa.not_(is_suspended(columns.owner_id))
        return await self._files(sa.and_(columns.bot_id == bot_id, columns.finished_at.is_(None), told))

    async def sent(self, bot_id: int, resource_id: str) -> TelegramFile | None:
        """Returns the first message with which a file was sent."""
        columns = telegram_files.c
        found = await self._files(sa.and_(columns.bot_id == bot_id, columns.resource_id == resource_id))
        return found[0] if found else None

    async def may_be_told(self, file: TelegramFile) -> bool:
        """Whether the file's owner may be notified: not suspended."""
        columns = telegram_files.c
        mine = sa.and_(columns.bot_id == file.bot_id, columns.chat_id == file.chat_id)
        told = sa.not_(is_suspended(columns.owner_id))
        return bool(await self._files(sa.and_(mine, columns.message_id == file.message_id, told)))

    async def change_file(self, file: TelegramFile, **values: object) -> None:
        """Changes the columns of a file."""
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
            .order_by(columns.message_id)
        )
        return [TelegramFile(**row) for row in await self._database.rows(query)]


def _at(place: TelegramPlace) -> sa.ColumnElement[bool]:
    columns = telegram_threads.c
    return sa.and_(
        columns.chat_id == place.chat_id, columns.topic_id == place.topic_id, columns.user_id == place.user_id
    )
