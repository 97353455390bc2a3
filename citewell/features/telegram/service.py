"""Links between Telegram accounts and owners, the codes that create them, and the webhook for Telegram's updates."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from citewell.errors import NotFound, RateLimited, Unauthorized
from citewell.ingest.page_views import PageViews
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.channels.telegram import (
    TelegramChatRepository,
    TelegramInboxRepository,
    TelegramLinkRepository,
)
from citewell.types import JsonObject

CODE_SECONDS = 15 * 60.0
"""Seconds for which a code is valid: enough to pick up a phone."""
MAX_GUESSES = 5
"""Codes a user may try in that time; there are 2^50 codes."""
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"
"""32 characters that are not mistaken for one another (Crockford's base 32)."""
_CODE_LENGTH = 10


@dataclass(frozen=True, slots=True)
class LinkCode:
    """A code that links the first account that sends it to the bot. address: opens the bot with the code, if a bot is running."""

    code: str
    expires_at: float
    address: str | None


@dataclass(slots=True)
class TelegramDoor:
    """The bot running in this process, if any.

    username: its name in Telegram; secret: sent by Telegram with each update; receive: stores an update
    """

    username: str | None = None
    secret: str | None = None
    receive: Callable[[JsonObject], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramService:
    """Links between Telegram users and owners. everyone: an unlinked user becomes a new owner; pages: draws the pages that answers cite."""

    repository: TelegramLinkRepository
    inbox: TelegramInboxRepository
    chats: TelegramChatRepository
    owners: OwnerRepository
    pages: PageViews
    everyone: bool = False
    door: TelegramDoor = field(default_factory=TelegramDoor)

    @property
    def username(self) -> str | None:
        """The running bot's name in Telegram; None if there is no bot."""
        return self.door.username

    async def new_code(self, owner_id: str) -> LinkCode:
        """A code for this owner, valid once, for 15 minutes; it replaces the previous one."""
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
        expires_at = time.time() + CODE_SECONDS
        await self.repository.add_code(owner_id, _hashed(code), expires_at)
        username = self.door.username
        address = f"https://t.me/{username}?start={code}" if username else None
        return LinkCode(f"{code[:5]}-{code[5:]}", expires_at, address)

    async def redeem(self, user_id: int, name: str, code: str) -> str | None:
        """The owner that a code links a user to; None for a wrong code. Raises `RateLimited` after too many wrong codes."""
        if await self.repository.count_guess(user_id, CODE_SECONDS) > MAX_GUESSES:
            raise RateLimited(retry_after=CODE_SECONDS)
        return await self.repository.redeem(user_id, name, _hashed(code))

    async def owner_of(self, user_id: int) -> str | None:
        """The owner of a Telegram user; None if suspended, or if not linked, unless everybody may use the bot."""
        linked = await self.repository.owner_of(user_id)
        if linked is not None or not self.everyone or await self.repository.is_linked(user_id):
            return linked
        return await self.owners.ensure(f"telegram:{user_id}")

    async def unlink(self, owner_id: str, user_id: int) -> None:
        """Remove a link. Files and conversations stay. Raises `NotFound` if there is no such link."""
        await self.repository.unlink(owner_id, user_id)
        await self.chats.leave(owner_id, user_id)

    def admit(self, secret: str) -> None:
        """Raise `NotFound` if no webhook is expected, and `Unauthorized` unless the secret is the one given to Telegram."""
        expected = self.door.secret
        if expected is None:
            raise NotFound(
                "No Telegram bot receives updates here. Start one with TELEGRAM_BOT_TOKEN and TELEGRAM_WEBHOOK_URL."
            )
        if not hmac.compare_digest(secret.encode(), expected.encode()):
            raise Unauthorized("The secret of the webhook is missing or wrong. Only Telegram may send updates here.")

    async def receive(self, update: JsonObject) -> None:
        """Store an update from Telegram; ignore one seen before."""
        if self.door.receive is None:
            raise NotFound
        await self.door.receive(update)


def looks_like_code(text: str) -> bool:
    """Whether a message is a code and nothing else."""
    return len(text) <= 2 * _CODE_LENGTH and len(_plain(text)) == _CODE_LENGTH and set(_plain(text)) <= set(_LETTERS)


def _plain(code: str) -> str:
    return "".join(character for character in code.upper() if character not in "- ")


def _hashed(code: str) -> str:
    """The stored form. A fast hash suffices, because a code lives for minutes and attempts are limited."""
    return hashlib.sha256(_plain(code[:64]).encode()).hexdigest()
