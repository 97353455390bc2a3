"""Dispatches an update: determines who wrote it, whether the bot may answer, and which part of the bot handles it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from citewell.channels.telegram.commands import run_command, run_tap
from citewell.channels.telegram.desk import Task
from citewell.channels.telegram.questions import ask
from citewell.channels.telegram.sources import show_source
from citewell.channels.telegram.texts import plain, say
from citewell.channels.telegram.uploads import megabytes, receive
from citewell.errors import NotFound, RateLimited
from citewell.features.telegram.service import looks_like_code


async def handle(task: Task) -> None:
    """Handle an update. In groups the bot answers only linked people who address it."""
    if task.incoming.album:
        await _join_album(task)
    incoming = task.incoming
    if not incoming.addressed:
        return
    owner_id = await task.desk.services.telegram.owner_of(task.place.user_id)
    if incoming.tap:
        await _tap(task, owner_id)
        return
    if incoming.private and (code := _code(task, is_linked=owner_id is not None)):
        await _link(task, code)
        return
    if owner_id is None:
        if incoming.private:
            await task.say(say(incoming.language, "not_linked"))
        return
    if incoming.command == "start":
        await task.say(say(incoming.language, "welcome"))
    elif incoming.command:
        if not await run_command(task, owner_id):
            await task.say(say(incoming.language, "help", limit=megabytes(task.desk.max_bytes)))
    elif incoming.file is not None:
        await receive(task, owner_id, incoming.file)
    elif incoming.words.strip():
        await ask(task, owner_id, incoming.words.strip())
    elif incoming.voice:
        await task.say(say(incoming.language, "voice"))
    elif incoming.private:
        await task.say(say(incoming.language, "not_understood"))


async def _join_album(task: Task) -> None:
    """Add an album's caption to this message. Albums arrive as several messages, but only one has the caption, which applies to all."""
    services, incoming = task.desk.services, task.incoming
    message_id = await services.telegram.inbox.album(task.desk.bot_id, task.place, incoming.album)
    if message_id is None:
        return
    caption = ""
    file = await services.telegram.chats.file(task.desk.bot_id, task.place.chat_id, message_id)
    if file is not None:
        with suppress(NotFound):
            caption = str(
                (await services.resources.repository.get(file.owner_id, file.resource_id)).metadata.get("caption", "")
            )
    task.incoming = replace(incoming, addressed=True, album_caption=caption)


async def _tap(task: Task, owner_id: str | None) -> None:
    """Handle a tap on a button of an answer, whose sources only its owner sees, or of a command's message."""
    if owner_id is None:
        await task.desk.notice(task.incoming, plain(task.incoming.language, "not_yours"))
    elif task.incoming.tap.startswith("c:"):
        await show_source(task, owner_id, task.incoming.tap)
    else:
        await run_tap(task, owner_id)


def _code(task: Task, *, is_linked: bool) -> str:
    """The code in a message: after `/start`, as the link in Settings sends it, or alone, from a person who is not linked."""
    words = task.incoming.words.strip()
    if task.incoming.command == "start":
        return words
    redeeming = bool(task.progress.get("redeeming"))
    return words if not task.incoming.command and (redeeming or not is_linked) and looks_like_code(words) else ""


async def _link(task: Task, code: str) -> None:
    service, language = task.desk.services.telegram, task.incoming.language
    user_id = task.place.user_id
    again = bool(task.progress.get("redeeming"))
    if again and await service.repository.owner_of(user_id) is not None:  # the process died before it could reply
        await task.say(say(language, "linked"))
        return
    await task.note(redeeming=True)
    try:
        owner_id = await service.redeem(user_id, task.incoming.name, code)
    except RateLimited:
        await task.say(say(language, "too_many_codes"))
        return
    await task.say(say(language, "wrong_code" if owner_id is None else "linked"))
