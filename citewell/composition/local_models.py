"""Composes the use of a model server of this machine: who looks for it, its chat model, its examination, and who answers then."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial

from citewell.adapters import registry
from citewell.adapters.chat.local_servers import find_local_servers
from citewell.composition.chat_models import AnswerWith, UsedModel, answer_seconds, examine_model, known_model
from citewell.features.local_models.service import Connected, ListedServer, LocalModelService, refusal_in
from citewell.ports import ChatModel, close_connections
from citewell.ports.metering import MeteredChat
from citewell.settings import OpenAIChat, Settings
from citewell.system.folder import DataFolder


async def local_model_service(
    settings: Settings,
    folder: DataFolder,
    local_owner: str,
    configured: UsedModel | None,
    answer_with: AnswerWith,
    stack: AsyncExitStack,
) -> LocalModelService:
    """The service over this machine's usual ports, going on with the model that was chosen; `answer_with` has a model write the answers, or none. `stack` closes the models."""
    now = configured

    def use(server: ListedServer | None, model: ChatModel | None) -> None:
        nonlocal now
        now = None
        if server is not None and model is not None:
            now = UsedModel(model, known_model(settings, folder, server.base_url, model.model))
        answer_with(now)

    async def examine(server: ListedServer, model: ChatModel) -> None:
        await examine_model(folder, model, server.base_url)

    def connected() -> Connected | None:
        if now is None:
            return None
        model, known = now.model, now.known
        return Connected(model=model.model, profile=known.profile(model).value, told=known.told(model))

    service = LocalModelService(
        folder=folder,
        local_owner=local_owner,
        find=partial(_find, settings.server.port),
        build=partial(_chat_model, answer_seconds(settings, is_own=True), stack),
        examine=examine,
        answer_with=use,
        connected=connected,
        refused=refusal_in(settings),
    )
    await service.resume()
    return service


def _find(own_port: int) -> list[ListedServer]:
    return list(find_local_servers((own_port,)))


def _chat_model(seconds: float, stack: AsyncExitStack, server: ListedServer, model: str) -> ChatModel:
    """The model, counted under the server's name; it costs nothing, so no limit of spending is before it."""
    settings = OpenAIChat(base_url=server.base_url, model=model, seconds=seconds)
    built = registry.build_chat_model(settings)
    assert built is not None
    stack.push_async_callback(close_connections, built)
    return MeteredChat(built, server.name)
