"""Calls to the Bot API: waits out flood limits, retries network failures, and distinguishes errors that retrying cannot fix.

No error that leaves this module contains the bot's token, although every address does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from aiogram import Bot
from aiogram.exceptions import (
    AiogramError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.methods import GetFile, TelegramMethod
from aiohttp import ClientError

from citewell.errors import ConfigurationError, IncompleteUpload, NotFound

log = logging.getLogger(__name__)
T = TypeVar("T")
_ATTEMPTS = 5
_MAX_PAUSE = 30.0
"""Seconds between attempts if Telegram does not specify them."""
_DOWNLOAD_SECONDS = 600
_PIECE = 256 * 1024


class RawUpdates(TelegramMethod[list[dict[str, Any]]]):
    """`getUpdates` returning updates as Telegram sent them: one that the library cannot parse must not block the others."""

    __returning__: ClassVar[Any] = list[dict[str, Any]]
    __api_method__: ClassVar[str] = "getUpdates"

    offset: int | None = None
    timeout: int = 0
    allowed_updates: list[str] | None = None


class MessageGone(Exception):
    """The message can no longer be edited: it was deleted, or is too old."""


class BotBlocked(Exception):
    """The user blocked the bot, or removed it from the chat."""


class TelegramAway(Exception):
    """Telegram cannot be reached, or asks for a wait longer than the bot accepts."""


class RefusedCall(Exception):
    """Telegram refuses the call. Repeating it does not help."""


class TelegramCalls:
    """Sends methods with a bot. sleep: how to wait; tests replace it."""

    def __init__(self, bot: Bot, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._bot = bot
        self.sleep = sleep

    async def __call__(self, method: TelegramMethod[T], *, seconds: int | None = None) -> T:
        """The result of a method.

        Raises `BotBlocked`, `MessageGone`, `ConfigurationError` if Telegram refuses the token, `NotFound` for a chat or file
        that does not exist, and `TelegramAway` after several failed attempts.
        """
        pause, reason = 1.0, ""
        for _ in range(_ATTEMPTS):
            try:
                return await self._bot(method, request_timeout=seconds)
            except TelegramRetryAfter as error:
                reason = "it asks for fewer messages"
                await self.sleep(error.retry_after)
            except TelegramMigrateToChat as error:
                method = method.model_copy(update={"chat_id": error.migrate_to_chat_id})
            except TelegramEntityTooLarge:
                raise NotFound("The message or file is too large for Telegram.") from None
            except (TelegramBadRequest, TelegramForbiddenError, TelegramUnauthorizedError, TelegramNotFound) as error:
                raise _final(error, self._told(error)) from None
            except (AiogramError, ClientError, TimeoutError, OSError) as error:
                reason = self._told(error)
                log.info("Telegram does not answer %s (%s); retrying", method.__api_method__, reason)
                await self.sleep(pause)
                pause = min(2 * pause, _MAX_PAUSE)
                if isinstance(error, TelegramConflictError):
                    break
        raise TelegramAway(f"Telegram does not answer {method.__api_method__}: {reason}")

    async def download(self, file_id: str, size: int | None) -> AsyncGenerator[bytes]:
        """The bytes of a file. Raises `IncompleteUpload` if they end early, `NotFound` if Telegram no longer provides the file."""
        file = await self(GetFile(file_id=file_id))
        if not file.file_path:
            raise NotFound("Telegram no longer provides this file. Send it again.")
        expected = file.file_size or size
        received = 0
        try:
            async with aclosing(self._pieces(file.file_path)) as pieces:
                async for piece in pieces:
                    received += len(piece)
                    yield piece
        except (AiogramError, ClientError, TimeoutError, OSError):
            raise IncompleteUpload from None
        if expected is not None and received != expected:
            raise IncompleteUpload

    async def _pieces(self, path: str) -> AsyncGenerator[bytes]:
        api = self._bot.session.api
        if not api.is_local:
            url = api.file_url(self._bot.token, path)
            stream = self._bot.session.stream_content(url=url, timeout=_DOWNLOAD_SECONDS, chunk_size=_PIECE)
            async for piece in stream:
                yield piece
            return
        with await asyncio.to_thread(Path(path).open, "rb") as local:
            while piece := await asyncio.to_thread(local.read, _PIECE):
                yield piece

    def _told(self, error: BaseException) -> str:
        """An error's message without the token, which an address in it may contain."""
        said = error.message if isinstance(error, TelegramAPIError) else f"{type(error).__name__}"
        return said.replace(self._bot.token, "…")[:300]


_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message to be replied not found",
    "message_id_invalid",
)
_AWAY = (
    "chat not found",
    "message thread not found",
    "not enough rights",
    "have no rights",
    "user not found",
    "peer_id_invalid",
)


def _final(error: TelegramAPIError, said: str) -> Exception:
    """The error for a response that retrying would not change."""
    lower = said.lower()
    if isinstance(error, TelegramForbiddenError) or any(phrase in lower for phrase in _AWAY):
        return BotBlocked()
    if any(phrase in lower for phrase in _GONE):
        return MessageGone()
    if isinstance(error, TelegramUnauthorizedError | TelegramNotFound):
        return ConfigurationError(
            "Telegram refuses the bot's token. Check TELEGRAM_BOT_TOKEN with @BotFather, and TELEGRAM_API_URL."
        )
    return RefusedCall(said)
