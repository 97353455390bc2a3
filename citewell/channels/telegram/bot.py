"""The bot: stores updates, handles each once and in the order of its chat, and resumes unfinished ones after a restart."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.methods import DeleteWebhook, GetMe, SetMyCommands, SetWebhook
from aiogram.types import BotCommand
from aiogram.utils.token import TokenValidationError
from pydantic import SecretStr

from citewell.channels.telegram.calls import (
    BotBlocked,
    MessageGone,
    RawUpdates,
    RefusedCall,
    TelegramAway,
    TelegramCalls,
)
from citewell.channels.telegram.conversation import handle
from citewell.channels.telegram.desk import CLOUD_LIMIT, Desk, Task
from citewell.channels.telegram.expiry import expire
from citewell.channels.telegram.incoming import UPDATES, Incoming, chat_of, read
from citewell.channels.telegram.texts import COMMANDS, LANGUAGES, say
from citewell.channels.telegram.uploads import watch
from citewell.composition import Services
from citewell.errors import CitewellError, ConfigurationError, InvalidInput, QuestionsQuotaReached, RateLimited
from citewell.settings import TelegramSettings
from citewell.storage.channels.telegram import TelegramFile, TelegramUpdate
from citewell.types import JsonObject
from citewell.types.json import sound

log = logging.getLogger(__name__)
WEBHOOK_PATH = "/telegram/webhook"
_POLL_SECONDS = 50
"""How long Telegram holds `getUpdates` open when there are no updates."""
_MAX_CHATS = 8
"""Chats served at the same time."""
_MAX_ATTEMPTS = 3
_RETRY_SECONDS = 5.0
_EXPIRY_SECONDS = 60.0
Key = TypeVar("Key")
Sleep = Callable[[float], Awaitable[None]]


@asynccontextmanager
async def telegram_bot(
    services: Services, settings: TelegramSettings, *, sleep: Sleep = asyncio.sleep
) -> AsyncGenerator[TelegramBot]:
    """Run the bot within the block. Raises `ConfigurationError` if the token is malformed or refused."""
    if settings.token is None:
        raise ConfigurationError("TELEGRAM_BOT_TOKEN is not set. Get a token from @BotFather in Telegram.")
    bot = _bot(settings, settings.token)
    try:
        calls = TelegramCalls(bot, sleep=sleep)
        try:
            me = await calls(GetMe())
        except TelegramAway as error:
            raise ConfigurationError(f"{error}. Check the network, and TELEGRAM_API_URL.") from None
        largest = services.resources.max_bytes
        desk = Desk(
            services=services,
            calls=calls,
            bot_id=me.id,
            username=me.username or "",
            max_bytes=largest if settings.local_server else min(largest, CLOUD_LIMIT),
        )
        running = TelegramBot(desk)
        await running.start(settings.token, settings.webhook_url)
        try:
            yield running
        finally:
            await running.stop()
    finally:
        await bot.session.close()


def _bot(settings: TelegramSettings, token: SecretStr) -> Bot:
    api = TelegramAPIServer.from_base(settings.api_url, is_local=settings.local_server)
    session = AiohttpSession(api=api)
    try:
        return Bot(token.get_secret_value(), session=session)
    except TokenValidationError:
        raise ConfigurationError(
            "TELEGRAM_BOT_TOKEN is not a bot token. Get one from @BotFather; it looks like 123456:ABC-DEF."
        ) from None


def webhook_secret(token: SecretStr) -> str:
    """The secret Telegram sends with each update. It is derived from the token, so it need not be stored."""
    return hmac.new(token.get_secret_value().encode(), b"citewell telegram webhook", hashlib.sha256).hexdigest()


class TelegramBot:
    """Runs the tasks of the bot: `start`, and `stop`."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._chats: dict[int, asyncio.Task[None]] = {}
        self._watched: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(_MAX_CHATS)

    async def start(self, token: SecretStr, webhook_url: str | None) -> None:
        """Start, with unfinished updates first. Without a webhook address, the bot polls Telegram for updates."""
        door = self.desk.services.telegram.door
        await self._name_commands()
        if webhook_url is None:
            await self.desk.calls(DeleteWebhook(drop_pending_updates=False))
            self._run(self._poll())
        else:
            secret = webhook_secret(token)
            url = webhook_url.rstrip("/")
            url = url if url.endswith(WEBHOOK_PATH) else url + WEBHOOK_PATH
            door.secret, door.receive = secret, self.receive
            try:
                await self.desk.calls(SetWebhook(url=url, secret_token=secret, allowed_updates=UPDATES))
            except RefusedCall as error:
                raise ConfigurationError(
                    f"Telegram refused the webhook {url} ({error}). Check CITEWELL_TELEGRAM_WEBHOOK_URL."
                ) from None
        door.username = self.desk.username
        self._run(self._work())
        self._run(self._expire())

    async def stop(self) -> None:
        """End all tasks; the next start resumes what they had not finished."""
        door = self.desk.services.telegram.door
        door.username = door.secret = door.receive = None
        running = [*self._tasks, *self._chats.values(), *self._watched.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def receive(self, update: JsonObject) -> None:
        """Store an update from the webhook."""
        await self._keep([update])

    async def idle(self) -> None:
        """Wait until all updates are handled."""
        while True:
            await asyncio.gather(*self._chats.values(), *self._watched.values())
            services = self.desk.services.telegram
            if not (
                await services.inbox.pending(self.desk.bot_id) or await services.chats.unfinished(self.desk.bot_id)
            ):
                return
            self._wake.set()
            await asyncio.sleep(0)

    def _run(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)

    async def _name_commands(self) -> None:
        """Set the commands in Telegram's menu. The bot works without them."""
        for place, language in enumerate(LANGUAGES):
            commands = [BotCommand(command=name, description=texts[place]) for name, texts in COMMANDS.items()]
            code = None if place == 0 else language
            try:
                await self.desk.calls(SetMyCommands(commands=commands, language_code=code))
            except (RefusedCall, TelegramAway) as error:
                log.info("Telegram refused the list of commands: %s", error)
                return

    async def _poll(self) -> None:
        """Long polling. Updates are stored before the next ones are requested, because that request acknowledges them."""
        offset: int | None = None
        while True:
            try:
                asked = RawUpdates(offset=offset, timeout=_POLL_SECONDS, allowed_updates=UPDATES)
                updates = await self.desk.calls(asked, seconds=_POLL_SECONDS + 15)
                await self._keep(updates)
                numbers = [number for one in updates if isinstance(number := one.get("update_id"), int)]
                offset = max([*numbers, (offset or 1) - 1]) + 1 if numbers else offset
            except (TelegramAway, RefusedCall, BotBlocked, CitewellError) as error:
                log.warning("cannot fetch updates from Telegram: %s", error)
                await self.desk.calls.sleep(_RETRY_SECONDS)

    async def _keep(self, updates: Iterable[JsonObject]) -> None:
        kept: list[tuple[int, int, JsonObject]] = []
        for update in updates:
            number = update.get("update_id")
            if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**62:
                raise InvalidInput("The update has no `update_id`.")
            try:
                body = _clean(update)
            except ValueError as error:
                raise InvalidInput(f"The update cannot be stored: {error}") from error
            kept.append((number, chat_of(body), body))
        if kept and await self.desk.services.telegram.inbox.keep(self.desk.bot_id, kept):
            self._wake.set()

    async def _work(self) -> None:
        """Start a task for each chat with updates, and one to watch each file being processed."""
        services = self.desk.services
        while True:
            self._wake.clear()
            try:
                for update in await services.telegram.inbox.pending(self.desk.bot_id):
                    if update.chat_id not in self._chats:
                        self._begin(self._chats, update.chat_id, self._serve(update.chat_id))
                for file in await services.telegram.chats.unfinished(self.desk.bot_id):
                    if (file.chat_id, file.message_id) not in self._watched:
                        self._begin(self._watched, (file.chat_id, file.message_id), self._watch(file))
            except CitewellError as error:
                log.warning("the bot cannot work now: %s", error.message)
            try:
                async with asyncio.timeout(_RETRY_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _begin(self, tasks: dict[Key, asyncio.Task[None]], key: Key, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        tasks[key] = task

        def forget(_: asyncio.Task[None]) -> None:
            tasks.pop(key, None)

        task.add_done_callback(forget)

    async def _serve(self, chat_id: int) -> None:
        """Handle the updates of one chat in order; one that has to wait delays those after it."""
        async with self._slots:
            for update in await self.desk.services.telegram.inbox.pending(self.desk.bot_id):
                if update.chat_id == chat_id and not await self._do(update):
                    return
            self._wake.set()

    async def _do(self, update: TelegramUpdate) -> bool:
        """Handle one update; False if it must be retried later."""
        inbox = self.desk.services.telegram.inbox
        incoming = read(update.body, self.desk.bot_id, self.desk.username)
        if incoming is not None:
            task = Task(self.desk, update, incoming, dict(update.progress))
            try:
                await self._attempt(task)
            except BotBlocked:  # nobody can be told; not an error
                pass
            except TelegramAway as error:
                log.warning("%s; an update waits.", error)
                return False
            except Exception:
                log.exception("update %s of the Telegram bot failed", update.update_id)
                attempts = update.attempts + 1
                await inbox.tried(update, attempts)
                if attempts < _MAX_ATTEMPTS:
                    return False
                await self._apologise(task)
        await inbox.done(update, _of_album(incoming))
        return True

    async def _attempt(self, task: Task) -> None:
        language = task.incoming.language
        try:
            await handle(task)
        except QuestionsQuotaReached as error:  # retrying next month makes no sense in a chat
            await task.say(say(language, "problem", reason=error.message))
        except RateLimited as error:
            await task.say(say(language, "busy", seconds=str(max(1, round(error.retry_after)))))
        except CitewellError as error:
            log.info("cannot handle an update of the Telegram bot: %s", error.message)
            await task.say(say(language, "problem", reason=error.message))

    async def _apologise(self, task: Task) -> None:
        try:
            await task.say(say(task.incoming.language, "broken"))
        except (BotBlocked, MessageGone, RefusedCall, TelegramAway, CitewellError) as error:
            log.warning("cannot tell the user: %s", error)

    async def _watch(self, file: TelegramFile) -> None:
        try:
            await watch(self.desk, file)
            self._wake.set()
        except (TelegramAway, CitewellError) as error:
            log.warning("cannot report the progress of a file now: %s", error)

    async def _expire(self) -> None:
        while True:
            try:
                await expire(self.desk, time.time())
            except (TelegramAway, CitewellError) as error:
                log.warning("cannot delete expired files now: %s", error)
            await self.desk.calls.sleep(_EXPIRY_SECONDS)


def _of_album(incoming: Incoming | None) -> JsonObject:
    """The details that other messages of an album need from a handled one that addressed the bot."""
    if incoming is None or not incoming.album or not incoming.addressed:
        return {}
    return {"album": incoming.album, "user": incoming.place.user_id, "message": incoming.message_id}


def _clean(update: JsonObject) -> JsonObject:
    """The update in a form every database accepts: UTF-8, without null characters. Raises `ValueError` if it is nested too deeply."""
    text = json.dumps(sound(update), ensure_ascii=False)
    return json.loads(text.replace("\\u0000", ""))
