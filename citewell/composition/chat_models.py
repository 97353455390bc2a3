"""The chat model in use and what is known of it: its profile, its patience, and its examination, which is kept in the data folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from citewell.adapters.chat.local_servers import context_window
from citewell.agent.model.known import KnownModel
from citewell.errors import ProviderError
from citewell.ports import ChatModel
from citewell.settings import Settings
from citewell.system.folder import DataFolder
from citewell.types.chat_models import ChatProfile, ModelExamination

log = logging.getLogger(__name__)
OWN_SECONDS = 300.0
"""How long an answer by your own model may take, unless `CITEWELL_ANSWER_SECONDS` is set."""
_PAUSES = (15.0, 60.0, 300.0, 900.0)


def answer_seconds(settings: Settings, *, is_own: bool) -> float:
    """How long one answer may take."""
    return OWN_SECONDS if is_own and "answer_seconds" not in settings.values else settings.answers.seconds


def known_model(settings: Settings, folder: DataFolder, address: str | None, model: str) -> KnownModel:
    """What is known of a model. address: your own model's; None for a vendor's."""
    chosen = None if settings.answers.profile == "auto" else ChatProfile(settings.answers.profile)
    found = None if address is None else folder.examination(address, model)
    return KnownModel(chosen=chosen, is_own=address is not None, examination=found)


async def examine_model(folder: DataFolder, model: ChatModel, address: str) -> ModelExamination:
    """Examine your own model, and keep the result. Raises a `ProviderError` where it does not answer."""
    from citewell.agent.model.examination import examine  # with the agent's prompts and tools

    window = await asyncio.to_thread(context_window, address, model.model)
    found = await examine(model, window)
    await asyncio.to_thread(folder.keep_examination, address, model.model, found)
    return found


async def examine_until_known(folder: DataFolder, model: ChatModel, known: KnownModel, address: str) -> None:
    """Examine it as soon as it answers: a server may start after Citewell does."""
    for pause in (*_PAUSES, None):
        try:
            known.learn_examination(await examine_model(folder, model, address))
        except ProviderError as error:
            log.info("%s could not be examined yet: %s", model.model, error.message)
        else:
            log.info("%s: %s profile. %s", model.model, known.profile(model), known.told(model))
            return
        if pause is not None:
            await asyncio.sleep(pause)


@dataclass(frozen=True, slots=True)
class UsedModel:
    """The chat model that writes answers now."""

    model: ChatModel
    known: KnownModel


AnswerWith = Callable[[UsedModel | None], None]
"""Has a chat model, or none, take the turns that begin from then on."""


def used_model(
    settings: Settings, folder: DataFolder, stack: AsyncExitStack, model: ChatModel | None
) -> UsedModel | None:
    """The configured chat model. Your own is examined in the background until it answers, unless it was; `stack` ends that."""
    if model is None:
        return None
    address = settings.own_chat_address
    known = known_model(settings, folder, address, model.model)
    if address is not None and known.chosen is None and known.examination is None:
        task = asyncio.create_task(examine_until_known(folder, model, known, address))
        stack.push_async_callback(_cancel, task)
    return UsedModel(model, known)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
