"""Files sent to the bot that expire: tells their chat before and after they are deleted everywhere."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from citewell.channels.telegram.calls import BotBlocked, MessageGone, RefusedCall
from citewell.channels.telegram.desk import Desk
from citewell.channels.telegram.texts import say
from citewell.errors import NotFound
from citewell.storage.channels.telegram import TelegramFile, TelegramPlace
from citewell.storage.files.expiry import ExpiringFile


async def expire(desk: Desk, now: float) -> None:
    """Announce upcoming deletions, and delete files that were announced and have expired."""
    files = desk.services.expiring.files
    for file in await files.due(now, desk.bot_id):
        sent = await desk.services.telegram.chats.sent(desk.bot_id, file.id)
        if sent is None:  # deleted by hand at the same time
            continue
        if file.notice_at is not None:
            # Said first: if the bot dies in between, it says so twice rather than never.
            await _say(desk, sent, "expires", file, max(file.expires_at, now + file.expires_at - file.notice_at))
            await files.announce(file, now)
            continue
        with suppress(NotFound):
            await desk.services.expiring.delete(file.owner_id, file.id)
            await _say(desk, sent, "expired", file, file.expires_at)  # only once, and only after the deletion


async def _say(desk: Desk, sent: TelegramFile, key: str, file: ExpiringFile, at: float) -> None:
    """Tell the chat, if the bot can still write to it."""
    until = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    (part, *_) = say(sent.language, key, file=file.filename, time=until).parts()
    place = TelegramPlace(chat_id=sent.chat_id, topic_id=sent.topic_id, user_id=sent.user_id)
    with suppress(BotBlocked, MessageGone, RefusedCall):
        await desk.send(place, part, reply_to=sent.message_id)
