"""Files with an expiry: announces their deletion, then deletes them everywhere."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from citewell.channels.telegram.calls import BotBlocked, MessageGone, RefusedCall
from citewell.channels.telegram.desk import Desk
from citewell.channels.telegram.texts import say
from citewell.errors import NotFound
from citewell.storage.channels.telegram import TelegramFile, TelegramPlace

_NOTICE_SECONDS = 24 * 3_600.0
_NOTICE_SHARE = 0.25
"""The part of a file's lifetime left when its deletion is announced; at most a day."""


async def expire(desk: Desk, now: float) -> None:
    """Announce upcoming deletions, and delete files that were announced and have expired."""
    chats = desk.services.telegram.chats
    notice = min(_NOTICE_SECONDS, _NOTICE_SHARE * 3_600 * desk.file_hours)
    for file in await chats.expiring(desk.bot_id, now + notice):
        try:
            name = (await desk.services.resources.repository.get(file.owner_id, file.resource_id)).filename
            if file.announced_at is None:
                # No file disappears without notice: even after the server was down for long, the announcement comes first.
                end = max(file.expires_at or 0.0, now + notice)
                await _say(desk, replace(file, expires_at=end), "expires", name)
                await chats.change_file(file, announced_at=now, expires_at=end)
            elif file.expires_at is not None and file.expires_at <= now:
                await desk.services.resources.delete(file.owner_id, file.resource_id)
                await _say(desk, file, "expired", name)  # only once, and only after the deletion
        except NotFound:  # deleted by hand at the same time
            continue


async def _say(desk: Desk, file: TelegramFile, key: str, name: str) -> None:
    """Tell the chat, if the bot can still write to it."""
    until = datetime.fromtimestamp(file.expires_at or time.time(), UTC).strftime("%Y-%m-%d %H:%M")
    (part, *_) = say(file.language, key, file=name, time=until).parts()
    place = TelegramPlace(chat_id=file.chat_id, topic_id=file.topic_id, user_id=file.user_id)
    with suppress(BotBlocked, MessageGone, RefusedCall):
        await desk.send(place, part, reply_to=file.message_id)
