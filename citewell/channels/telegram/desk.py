"""Shared by every part of the bot: the services, the calls, and messages that a repeated update does not send twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aiogram.methods import AnswerCallbackQuery, EditMessageText, SendMessage, SendPhoto
from aiogram.types import (
    BufferedInputFile,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)

from citewell.channels.telegram.calls import MessageGone, RefusedCall, TelegramCalls
from citewell.channels.telegram.incoming import Incoming
from citewell.channels.telegram.rich import MAX_CAPTION_UNITS, Rich, RichPart
from citewell.composition import Services
from citewell.storage.channels.telegram import TelegramPlace, TelegramUpdate
from citewell.types import JsonValue

Buttons = Sequence[Sequence[tuple[str, str]]]
"""Rows of (text, data) pairs; Telegram accepts 64 bytes of data."""
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_MAX_NOTICE = 190
"""Characters of the answer to a tap; Telegram accepts 200."""
CLOUD_LIMIT = 20 * 1_000_000
"""Bytes that a bot can download (`getFile`), in decimal megabytes to stay below the limit; a local Bot API server has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The running bot. bot_id, username: Telegram's; max_bytes: per file."""

    services: Services
    calls: TelegramCalls
    bot_id: int
    username: str
    max_bytes: int

    async def send(
        self, place: TelegramPlace, part: RichPart, buttons: Buttons = (), *, reply_to: int | None = None
    ) -> int:
        """Send a message; returns its id."""
        sent = await self.calls(
            SendMessage(
                chat_id=place.chat_id,
                message_thread_id=place.topic_id or None,
                text=part.text,
                entities=_entities(part),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons),
                reply_parameters=_reply(reply_to),
            )
        )
        return sent.message_id

    async def edit(self, chat_id: int, message_id: int, part: RichPart, buttons: Buttons = ()) -> None:
        """Edit a message; one that already has this text is no error. Raises `MessageGone`."""
        try:
            await self.calls(
                EditMessageText(
                    chat_id=chat_id,
                    message_id=message_id,
                    text=part.text,
                    entities=_entities(part),
                    link_preview_options=_NO_PREVIEW,
                    reply_markup=_keyboard(buttons),
                )
            )
        except RefusedCall as error:
            if "message is not modified" not in str(error):
                raise

    async def send_picture(self, place: TelegramPlace, picture: bytes, name: str, caption: Rich) -> None:
        """Send a picture with a caption."""
        (part, *_) = caption.parts(MAX_CAPTION_UNITS) or [RichPart("")]
        await self.calls(
            SendPhoto(
                chat_id=place.chat_id,
                message_thread_id=place.topic_id or None,
                photo=BufferedInputFile(picture, name),
                caption=part.text,
                caption_entities=_entities(part),
            )
        )

    async def notice(self, incoming: Incoming, text: str = "") -> None:
        """Answer a tap, with a notice if given. Telegram accepts the answer for a few minutes only."""
        try:
            await self.calls(
                AnswerCallbackQuery(
                    callback_query_id=incoming.tap_id, text=text[:_MAX_NOTICE] or None, show_alert=bool(text)
                )
            )
        except RefusedCall:
            return


@dataclass(slots=True)
class Task:
    """An update being handled. It records what it sends, so that handling it again after a restart edits those messages."""

    desk: Desk
    update: TelegramUpdate
    incoming: Incoming
    progress: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def place(self) -> TelegramPlace:
        """The chat and topic of the update."""
        return self.incoming.place

    async def note(self, **progress: JsonValue) -> None:
        """Record something that must survive the process."""
        self.progress |= progress
        await self.desk.services.telegram.inbox.note(self.update, dict(self.progress))

    async def say(self, text: Rich, buttons: Buttons = ()) -> None:
        """Send messages once: edit those that this update already sent, in order, and send only the missing ones."""
        parts = text.parts()
        for number, part in enumerate(parts):
            await self._put(number, part, buttons if number == len(parts) - 1 else ())

    async def _put(self, number: int, part: RichPart, buttons: Buttons) -> None:
        sent = self._sent()
        if number < len(sent):
            try:
                await self.desk.edit(self.place.chat_id, sent[number], part, buttons)
                return
            except MessageGone:
                sent = sent[:number]
        reply_to = None if self.incoming.private or number else self.incoming.message_id
        message_id = await self.desk.send(self.place, part, buttons, reply_to=reply_to)
        await self.note(sent=[*sent, message_id])

    def first_message(self) -> int | None:
        """The first message sent for this update."""
        sent = self._sent()
        return sent[0] if sent else None

    def _sent(self) -> list[int]:
        sent = self.progress.get("sent")
        return [one for one in sent if isinstance(one, int)] if isinstance(sent, list) else []


def _entities(part: RichPart) -> list[MessageEntity] | None:
    found = [MessageEntity(type=kind, offset=offset, length=length) for kind, offset, length in part.styles]
    return found or None


def _keyboard(buttons: Buttons) -> InlineKeyboardMarkup | None:
    if not buttons:
        return None
    rows = [[InlineKeyboardButton(text=text, callback_data=data) for text, data in row] for row in buttons]
    return InlineKeyboardMarkup(inline_keyboard=rows)


def _reply(message_id: int | None) -> ReplyParameters | None:
    if message_id is None:
        return None
    return ReplyParameters(message_id=message_id, allow_sending_without_reply=True)
