"""Files that are kept for a time only: their deletion is announced, then they are deleted everywhere."""

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
"""Of the time that a file is kept: how long before its end this is announced, at most a day before."""


async def expire(desk: Desk, now: float) -> None:
    """Announce what is soon to be deleted, and delete what was announced and whose time is over."""
    chats = desk.services.telegram.chats
    notice = min(_NOTICE_SECONDS, _NOTICE_SHARE * 3_600 * desk.file_hours)
    for file in await chats.expiring(desk.bot_id, now + notice):
        try:
            name = (await desk.services.resources.repository.get(file.owner_id, file.resource_id)).filename
            if file.announced_at is None:
                # Nobody is deleted by surprise: after a long stop of the server, the notice still comes first.
                end = max(file.expires_at or 0.0, now + notice)
                await _say(desk, replace(file, expires_at=end), "expires", name)
                await chats.change_file(file, announced_at=now, expires_at=end)
            elif file.expires_at is not None and file.expires_at <= now:
                await desk.services.resources.delete(file.owner_id, file.resource_id)
                await _say(desk, file, "expired", name)  # once it is true, and only once
        except NotFound:  # deleted by hand at the same time
            continue


async def _say(desk: Desk, file: TelegramFile, key: str, name: str) -> None:
    """Tell the chat, where there is still somebody to be told."""
    until = datetime.fromtimestamp(file.expires_at or time.time(), UTC).strftime("%Y-%m-%d %H:%M")
    (part, *_) = say(file.language, key, file=name, time=until).parts()
    place = TelegramPlace(chat_id=file.chat_id, topic_id=file.topic_id, user_id=file.user_id)
    with suppress(BotBlocked, MessageGone, RefusedCall):
        await desk.send(place, part, reply_to=file.message_id)
