"""Telegram as HTTP sees it."""

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
    """The bot that this server runs, and the accounts that are linked, newest first."""

    bot: str | None = Field(description="the bot's name in Telegram; null where no bot runs here")
    everyone: bool = Field(description="whether people who are not linked get files of their own")
    links: list[TelegramLinkOut]


class TelegramCodeOut(Schema):
    """A code to send to the bot, valid once; `address` opens the bot with it."""

    code: str
    expires_at: datetime
    address: str | None

    @staticmethod
    def of(made: LinkCode) -> TelegramCodeOut:
        """The public form of a code."""
        return TelegramCodeOut(code=made.code, expires_at=utc(made.expires_at), address=made.address)
