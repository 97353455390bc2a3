"""HTTP schemas for Telegram."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import Schema, Timestamp


class TelegramLinkOut(Schema):
    """A Telegram account that is linked to the owner; `user_id` is Telegram's."""

    user_id: int
    name: str
    linked_at: Timestamp


class TelegramOut(Schema):
    """The bot on this server, and the linked accounts, newest first."""

    bot: str | None = Field(description="the bot's name in Telegram; null if this server runs no bot")
    everyone: bool = Field(description="whether people who are not linked get files of their own")
    links: list[TelegramLinkOut]


class TelegramCodeOut(Schema):
    """A code to send to the bot, valid once; `address` opens the bot with the code."""

    code: str
    expires_at: Timestamp
    address: str | None
