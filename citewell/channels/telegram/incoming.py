"""Parses Telegram's updates: who wrote what, where, and whether it is meant for the bot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiogram.types import CallbackQuery, Message, PhotoSize, Update
from pydantic import ValidationError

from citewell.channels.telegram.texts import language_of
from citewell.storage.channels.telegram import TelegramPlace
from citewell.types import JsonObject

ABOUT = "citewell_resource"
"""The key, in an update made from a caption, of the file that the question is about."""
UPDATES = ["message", "callback_query"]
"""The kinds of updates that the bot requests from Telegram."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file in a message. size: in bytes, if Telegram gives it."""

    file_id: str
    unique_id: str
    name: str
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message or a tap on a button. words: text or caption; command: such as `files`, with the rest in `words`.

    album: Telegram's id of the album that a file belongs to; album_caption: the album's caption, from another of its messages
    """

    place: TelegramPlace
    message_id: int
    language: str
    name: str
    private: bool
    addressed: bool
    words: str = ""
    command: str = ""
    file: SentFile | None = None
    voice: bool = False
    sent_at: float = 0.0
    forwarded_from: str = ""
    about: str | None = None
    album: str = ""
    album_caption: str = ""
    tap: str = ""
    tap_id: str = ""


def chat_of(update: JsonObject) -> int:
    """The chat id of an update in JSON; 0 if it has none."""
    found: Any = update.get("message") or update.get("callback_query") or {}
    if isinstance(found, Mapping) and "chat" not in found:
        found = found.get("message") or {}
    chat = found.get("chat") if isinstance(found, Mapping) else None
    number = chat.get("id") if isinstance(chat, Mapping) else None
    return number if isinstance(number, int) else 0


def read(body: JsonObject, bot_id: int, username: str) -> Incoming | None:
    """An update; None if it does not concern the bot: from a channel, from another bot, or of an unknown kind."""
    try:
        update = Update.model_validate(body)
    except ValidationError:
        return None
    if update.callback_query is not None:
        return _tap(update.callback_query)
    message = update.message
    if message is None or message.from_user is None or message.from_user.is_bot:
        return None
    # A caption is never a command, even if it begins like one: the file would be ignored.
    command, rest = _command(message.text, username) if message.text else ("", message.caption or "")
    if command is None:
        return None
    private = message.chat.type == "private"
    about = body.get(ABOUT)
    reply = message.reply_to_message
    mention = f"@{username}".lower()
    replied = reply is not None and reply.from_user is not None and reply.from_user.id == bot_id
    return Incoming(
        place=_place(message, message.from_user.id),
        message_id=message.message_id,
        language=language_of(message.from_user.language_code),
        name=message.from_user.full_name,
        private=private,
        addressed=private
        or bool(command)
        or replied
        or isinstance(about, str)
        or (bool(username) and mention in rest.lower()),
        words=_without(rest, mention) if not private else rest,
        command=command,
        file=_file(message),
        voice=message.voice is not None or message.video_note is not None,
        sent_at=message.date.timestamp(),
        forwarded_from=_origin(message),
        about=about if isinstance(about, str) else None,
        album=message.media_group_id or "",
    )


def _tap(query: CallbackQuery) -> Incoming | None:
    if query.message is None:
        return None
    topic = (
        query.message.message_thread_id if isinstance(query.message, Message) and query.message.is_topic_message else 0
    )
    return Incoming(
        place=TelegramPlace(chat_id=query.message.chat.id, topic_id=topic or 0, user_id=query.from_user.id),
        message_id=query.message.message_id,
        language=language_of(query.from_user.language_code),
        name=query.from_user.full_name,
        private=query.message.chat.type == "private",
        addressed=True,
        tap=query.data or "",
        tap_id=query.id,
    )


def _place(message: Message, user_id: int) -> TelegramPlace:
    topic = message.message_thread_id if message.is_topic_message else 0
    return TelegramPlace(chat_id=message.chat.id, topic_id=topic or 0, user_id=user_id)


def _command(words: str, username: str) -> tuple[str | None, str]:
    """(`files`, the rest) for `/files@bot …`, ("", words) for anything else, (None, "") for another bot's command."""
    if not words.startswith("/"):
        return "", words
    first, *following = words.split(maxsplit=1)
    rest = "".join(following)
    name, _, bot = first[1:].partition("@")
    if bot and bot.lower() != username.lower():
        return None, ""
    return name.lower(), rest.strip()


def _without(words: str, mention: str) -> str:
    place = words.lower().find(mention)
    return (words[:place] + words[place + len(mention) :]).strip() if len(mention) > 1 and place >= 0 else words


def _file(message: Message) -> SentFile | None:
    """The file of a message: a document, the largest size of a photo, or a video or recording, which are stored unread."""
    if message.photo:
        largest: PhotoSize = max(message.photo, key=lambda one: one.width * one.height)
        name = f"photo {message.date:%Y-%m-%d %H.%M.%S} {message.message_id}.jpg"
        return SentFile(file_id=largest.file_id, unique_id=largest.file_unique_id, name=name, size=largest.file_size)
    found = message.document or message.video or message.audio
    if found is None:
        return None
    kind = "document" if message.document else "video" if message.video else "audio"
    return SentFile(
        file_id=found.file_id,
        unique_id=found.file_unique_id,
        name=found.file_name or f"{kind} {message.date:%Y-%m-%d %H.%M.%S} {message.message_id}",
        size=found.file_size,
    )


def _origin(message: Message) -> str:
    """The name of the person or chat that a message was forwarded from, as Telegram gives it."""
    origin: Any = message.forward_origin
    if origin is None:
        return ""
    for part in ("sender_user", "sender_chat", "chat"):
        who = getattr(origin, part, None)
        if who is not None:
            return str(getattr(who, "full_name", None) or getattr(who, "title", None) or "")
    return str(getattr(origin, "sender_user_name", ""))
