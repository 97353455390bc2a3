"""Using a model server on this machine in one step, and going back. The choice is stored in the data folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from citewell.errors import LocalModelRefused, NotFound, named
from citewell.ports import ChatModel
from citewell.settings import NoChat, Settings
from citewell.system.folder import DataFolder, LocalModel

log = logging.getLogger(__name__)


def refusal_in(settings: Settings) -> str | None:
    """Why local model servers may not be detected or chosen; None if they may: with one owner, and no chat model configured."""
    chat, auth = settings.chat, settings.auth
    if auth.secret is not None:
        return f"This server has accounts ({auth.name_of('secret')}), so its operator configures the chat model with {chat.name_of('provider')}."
    if not isinstance(chat, NoChat) or "chat_provider" in settings.values:
        return f"{chat.name_of('provider')} is {chat.provider!r}. Unset it to choose a model here."
    if not chat.detect_local:
        return f"{chat.name_of('detect_local')} is off. Set it to true to detect model servers on this machine."
    return None


class ListedServer(Protocol):
    """A model server running on this machine."""

    @property
    def name(self) -> str:
        """The program's name."""
        ...

    @property
    def base_url(self) -> str:
        """The address of its chat completions."""
        ...

    @property
    def models(self) -> Sequence[str]:
        """The models it lists; at least one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The chat model that writes answers: its name, its profile, and what its examination says of it, in a sentence."""

    model: str
    profile: str
    told: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The chosen model and the available ones; `reason` says why none can be chosen. connected: what writes answers now, wherever it was set."""

    state: Literal["off", "none", "used", "silent"]
    chosen: LocalModel | None = None
    servers: Sequence[ListedServer] = ()
    reason: str = ""
    connected: Connected | None = None


@dataclass(slots=True)
class _Now:
    """The chosen model that currently writes answers."""

    used: LocalModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModelService:
    """Detects model servers, checks the chosen one, and uses it for answers.

    find:        requests the models of servers on this machine; takes up to a second, and runs in a thread
    build:       creates a chat model on a server that `find` returned
    examine:     asks it for what answers take, and keeps what it finds; raises a `ProviderError` if it does not answer
    answer_with: uses it for turns that start from now on; None goes back
    connected:   what writes answers now
    refused:     why no local model can be chosen; None if one can
    """

    folder: DataFolder
    local_owner: str
    find: Callable[[], Sequence[ListedServer]]
    build: Callable[[ListedServer, str], ChatModel]
    examine: Callable[[ListedServer, ChatModel], Awaitable[None]]
    answer_with: Callable[[ListedServer | None, ChatModel | None], None]
    connected: Callable[[], Connected | None]
    refused: str | None
    _now: _Now = field(default_factory=_Now)
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def resume(self) -> None:
        """Use the earlier choice. If its server does not respond, log that and continue without it."""
        chosen = self.folder.local_model() if self.refused is None else None
        if chosen is None:
            return
        server = await self._server_of(chosen)
        if server is None:
            log.warning(
                "%s with %s does not respond, so answers are extracted. Start it, and choose it again.", *chosen
            )
            return
        self._use(server, chosen)

    async def look(self, owner_id: str) -> Overview:
        """The choice, and the servers that respond now."""
        reason = self._refusal(owner_id)
        if reason is not None:
            is_local = owner_id == self.local_owner
            return Overview("off", reason=reason, connected=self.connected() if is_local else None)
        servers = await asyncio.to_thread(self.find)
        chosen = self.folder.local_model()
        if chosen is None:
            return Overview("none", servers=servers)
        state = "used" if self._now.used == chosen else "silent"
        return Overview(state, chosen, servers, connected=self.connected())

    async def use(self, owner_id: str, choice: LocalModel) -> Overview:
        """Use the model for answers once it has passed a short examination, which chooses its profile.

        Raises `LocalModelRefused` if the settings decide, `NotFound` if no server lists the model, and a `ProviderError` if it does not
        answer; nothing is changed then.
        """
        self._require(owner_id)
        async with self._changing:
            server = await self._server_of(choice)
            if server is None:
                raise NotFound(
                    f"No model server on this machine lists {named(choice.model)} as {named(choice.server)}."
                )
            await self.examine(server, self.build(server, choice.model))
            self.folder.keep_local_model(choice)
            self._use(server, choice)
        return await self.look(owner_id)

    async def stop(self, owner_id: str) -> Overview:
        """Go back to extracted answers; without a choice, do nothing. Raises `LocalModelRefused` if the settings decide."""
        self._require(owner_id)
        async with self._changing:
            self.folder.keep_local_model(None)
            self.answer_with(None, None)
            self._now.used = None
        return await self.look(owner_id)

    def _use(self, server: ListedServer, choice: LocalModel) -> None:
        self.answer_with(server, self.build(server, choice.model))
        self._now.used = choice

    async def _server_of(self, choice: LocalModel) -> ListedServer | None:
        servers = await asyncio.to_thread(self.find)
        return next((one for one in servers if one.name == choice.server and choice.model in one.models), None)

    def _require(self, owner_id: str) -> None:
        reason = self._refusal(owner_id)
        if reason is not None:
            raise LocalModelRefused(reason)

    def _refusal(self, owner_id: str) -> str | None:
        if owner_id != self.local_owner:
            return "Only the owner of this machine's data folder can choose its model."
        return self.refused
