"""Using a model server of this machine in one step, and going back; the choice is kept in the data folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from citewell.errors import LocalModelRefused, NotFound, ProviderRejected, ProviderUnavailable, named
from citewell.ports import ChatMessage, ChatModel, ToolSpec
from citewell.settings import NoChat, Settings
from citewell.system.folder import DataFolder, LocalModel
from citewell.types import JsonObject

log = logging.getLogger(__name__)

# A server that has not loaded the model yet reads gigabytes before its first word.
_CHECK_SECONDS = 60.0
_CHECK_TOKENS = 32
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
# The agent sends its tools along with each question: a model that refuses them would refuse every question.
_CHECK_TOOL = ToolSpec("nothing", "Does nothing. Do not call it.", _NO_PARAMETERS)


def refusal_in(settings: Settings) -> str | None:
    """Why no model server of this machine may be looked for or chosen; None where one may: one owner, and no chat model configured."""
    chat, auth = settings.chat, settings.auth
    if auth.secret is not None:
        return f"This server has accounts ({auth.name_of('secret')}): whoever runs it configures the chat model, with {chat.name_of('provider')}."
    if not isinstance(chat, NoChat) or "chat_provider" in settings.values:
        return f"{chat.name_of('provider')} is {chat.provider!r}, which decides. Unset it to choose a model here."
    if not chat.detect_local:
        return f"{chat.name_of('detect_local')} is off. Set it to true to have model servers of this machine found."
    return None


class ListedServer(Protocol):
    """A model server that answers on this machine."""

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
        """The models that it lists; at least one."""
        ...


@dataclass(frozen=True, slots=True)
class Overview:
    """What was chosen and what could be; `reason` says why nothing can be."""

    state: Literal["off", "none", "used", "silent"]
    chosen: LocalModel | None = None
    servers: Sequence[ListedServer] = ()
    reason: str = ""


@dataclass(slots=True)
class _Now:
    """The chosen model that writes the answers at present."""

    used: LocalModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModelService:
    """Looks for model servers, checks the one that is chosen, and has it write the answers.

    find: asks the servers of this machine for their models; it takes up to a second, and runs in a thread.
    build: a chat model of a server that `find` returned. answer_with: has it write the answers of turns that begin from now on; None goes back.
    refused: why no local model can be chosen; None where one can.
    """

    folder: DataFolder
    local_owner: str
    find: Callable[[], Sequence[ListedServer]]
    build: Callable[[ListedServer, str], ChatModel]
    answer_with: Callable[[ChatModel | None], None]
    refused: str | None
    _now: _Now = field(default_factory=_Now)
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def resume(self) -> None:
        """Use what was chosen before; when its server does not answer, say so in the log and go on without it."""
        chosen = self.folder.local_model() if self.refused is None else None
        if chosen is None:
            return
        server = await self._server_of(chosen)
        if server is None:
            log.warning("%s with %s does not answer: answers are extracted. Start it, and choose it again.", *chosen)
            return
        self._use(server, chosen)

    async def look(self, owner_id: str) -> Overview:
        """What was chosen, and which servers answer now."""
        reason = self._refusal(owner_id)
        if reason is not None:
            return Overview("off", reason=reason)
        servers = await asyncio.to_thread(self.find)
        chosen = self.folder.local_model()
        if chosen is None:
            return Overview("none", servers=servers)
        return Overview("used" if self._now.used == chosen else "silent", chosen, servers)

    async def use(self, owner_id: str, choice: LocalModel) -> Overview:
        """Have the model write the answers, once it has answered a first request.

        Raises `LocalModelRefused` where the settings decide, `NotFound` when no server lists the model, and a `ProviderError` when
        it does not answer; nothing is changed then.
        """
        self._require(owner_id)
        async with self._changing:
            server = await self._server_of(choice)
            if server is None:
                raise NotFound(
                    f"No model server on this machine lists {named(choice.model)} as {named(choice.server)}."
                )
            await _check(self.build(server, choice.model), choice)
            self.folder.keep_local_model(choice)
            self._use(server, choice)
        return await self.look(owner_id)

    async def stop(self, owner_id: str) -> Overview:
        """Go back to answers that are extracted; without a choice nothing happens. Raises `LocalModelRefused` where the settings decide."""
        self._require(owner_id)
        async with self._changing:
            self.folder.keep_local_model(None)
            self.answer_with(None)
            self._now.used = None
        return await self.look(owner_id)

    def _use(self, server: ListedServer, choice: LocalModel) -> None:
        self.answer_with(self.build(server, choice.model))
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
            return "Only the owner of this machine's data folder chooses its model."
        return self.refused


async def _check(model: ChatModel, choice: LocalModel) -> None:
    """Ask for one word; raises a `ProviderError` when nothing comes."""
    question = [ChatMessage(role="user", content="Answer with the word: ready")]
    said = False
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            async for delta in model.stream(question, tools=[_CHECK_TOOL], max_tokens=_CHECK_TOKENS):
                # A model that thinks first may have used up its tokens before the first word.
                thought = delta.usage is not None and delta.usage.output_tokens > 0
                said = said or bool(delta.text.strip()) or delta.tool_call is not None or thought
    except TimeoutError as error:
        seconds = round(_CHECK_SECONDS)
        message = f"{choice.server} with {choice.model} did not answer within {seconds} seconds. Try again when it has loaded the model."
        raise ProviderUnavailable(message) from error
    if not said:
        raise ProviderRejected(f"{choice.server} with {choice.model} answered with nothing. Choose another model.")
