"""HTTP schemas for Telegram."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from citewell.features.schemas import Schema, utc
from citewell.features.telegram.service import LinkCode
from citewell.storage.channels.telegram import TelegramLink


class TelegramLinkOut(Schema):
    """A Telegram account that is linked to the owner; `user_id` is Telegram's."""

    user_id: int
    name: str
    linked_at: datetime

    @staticmethod
    def of(link: TelegramLink) -> TelegramLinkOut:
        """The public form of a link."""
        return TelegramLinkOut(user_id=link.user_id, name=link.name, linked_at=utc(link.linked_at))


class TelegramOut(Schema):
    """The bot on this server, and the linked accounts, newest first."""

    bot: str | None = Field(description="the bot's name in Telegram; null if this server runs no bot")
    everyone: bool = Field(description="whether people who are not linked get files of their own")
    links: list[TelegramLinkOut]


class TelegramCodeOut(Schema):
    """A code to send to the bot, valid once; `address` opens the bot with the code."""

    code: str
    expires_at: datetime
    address: str | None

    @staticmethod
    def of(made: LinkCode) -> TelegramCodeOut:
        """The public form of a code."""
        return TelegramCodeOut(code=made.code, expires_at=utc(made.expires_at), address=made.address)
