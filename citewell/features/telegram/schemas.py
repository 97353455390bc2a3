"""Telegram as HTTP sees it."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import Schema, Timestamp


class TelegramLinkOut(Schema):
    """A Telegram account that is linked to the owner; `user_id` is Telegram's."""

    user_id: int
    name: str
    linked_at: Timestamp


class TelegramOut(Schema):
    """The bot that this server runs, and the accounts that are linked, newest first."""

    bot: str | None = Field(description="the bot's name in Telegram; null where no bot runs here")
    everyone: bool = Field(description="whether people who are not linked get files of their own")
    links: list[TelegramLinkOut]


class TelegramCodeOut(Schema):
    """A code to send to the bot, valid once; `address` opens the bot with it."""

    code: str
    expires_at: Timestamp
    address: str | None
