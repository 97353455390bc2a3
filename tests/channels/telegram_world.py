"""The bot with real services and aiogram, against the contract server of the Bot API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from citewell.channels.telegram.bot import TelegramBot, telegram_bot
from citewell.composition import Services, open_services
from citewell.settings import Settings, load_settings
from citewell.types import ResourceFilter
from tests.contract_servers.serving import serving
from tests.contract_servers.telegram import TOKEN, Person, Shown, TelegramServer

_PATIENCE_SECONDS = 120.0
"""Far more than anything takes: what does not happen fails the test, and nothing waits for the clock."""


@dataclass(kw_only=True)
class World:
    """Services that are open, and the Bot API. sleeps: how long the bot would have waited."""

    services: Services
    settings: Settings
    server: TelegramServer
    sleeps: list[float] = field(default_factory=list[float])

    @asynccontextmanager
    async def bot(self) -> AsyncGenerator[TelegramBot]:
        """The bot, at work."""
        async with telegram_bot(self.services, self.settings.telegram, sleep=self._sleep) as running:
            yield running

    async def _sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await asyncio.sleep(0)

    async def linked(self, person: Person, owner: str | None = None) -> Person:
        """The person, linked to the local owner."""
        made = await self.services.telegram.new_code(owner or self.services.local_owner)
        before = len(self.server.shown)
        person.write(f"/start {made.code}")
        await until(lambda: len(self.server.shown) > before and "Linked" in self.server.shown[-1].text)
        return person

    async def files(self, person: Person) -> list[str]:
        """The names of a person's files, newest first."""
        owner = await self.services.telegram.owner_of(person.id)
        assert owner is not None
        found, _ = await self.services.resources.page(owner, ResourceFilter(), 50, None)
        return [one.filename for one in found]

    async def said(self, chat_id: int, words: str) -> Shown:
        """The newest message in a chat that has these words, once it is there."""
        found: list[Shown] = []

        def there() -> bool:
            found[:] = [one for one in self.server.of_chat(chat_id) if words in one.text]
            return bool(found)

        await until(there, lambda: f"{words!r} in {[one.text for one in self.server.of_chat(chat_id)]}")
        return found[-1]


async def until(condition: Callable[[], bool], what: Callable[[], str] = lambda: "it") -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"still waiting for {what()}")
        await asyncio.sleep(0.01)


@contextmanager
def bot_api() -> Generator[tuple[TelegramServer, str]]:
    """The contract server, and its address."""
    server = TelegramServer()
    with serving(server.app) as url:
        yield server, url


@asynccontextmanager
async def world(folder: Path, **settings: object) -> AsyncGenerator[World]:
    """Everything, on a data folder."""
    with bot_api() as (server, url):
        loaded = load_settings(data=folder, telegram_bot_token=TOKEN, telegram_api_url=url, **settings)
        async with open_services(loaded) as services:
            yield World(services=services, settings=loaded, server=server)
