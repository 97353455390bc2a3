"""Files sent to the bot: downloads and stores each once, and reports its progress in one message."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from citewell.channels.telegram.calls import BotBlocked, MessageGone, RefusedCall
from citewell.channels.telegram.desk import Desk, Task
from citewell.channels.telegram.incoming import ABOUT, SentFile
from citewell.channels.telegram.questions import thread_name
from citewell.channels.telegram.rich import Rich, RichPart
from citewell.channels.telegram.texts import say
from citewell.errors import CitewellError, IncompleteUpload, NotFound
from citewell.features.resources.said import Said
from citewell.ingest.capture import Spooled
from citewell.storage.channels.telegram import TelegramFile
from citewell.types import TERMINAL, JsonObject, JsonValue, Resource, Status

SOURCE = "telegram"
_DOWNLOADS = 3
_MAX_SAID = 500
"""Characters of a caption or name kept as metadata; values are limited to 512 unless configured lower."""
_QUESTION = ("?", "？", "؟")


def megabytes(size: int) -> str:
    """A size in megabytes, for people."""
    return f"{size / 1_000_000:.0f} MB" if size >= 10_000_000 else f"{size / 1_000_000:.1f} MB"


async def receive(task: Task, owner_id: str, file: SentFile) -> None:
    """Receive a file. Repeating this after a restart continues where it stopped."""
    desk, language = task.desk, task.incoming.language
    if file.size is not None and file.size > desk.max_bytes:
        size, limit = megabytes(file.size), megabytes(desk.max_bytes)
        await task.say(say(language, "too_large", file=file.name, size=size, limit=limit))
        return
    known = await desk.services.telegram.chats.file(desk.bot_id, task.place.chat_id, task.incoming.message_id)
    if known is not None:
        return
    await desk.services.auth.admit(owner_id)
    await task.say(say(language, "receiving", file=file.name))
    try:
        resource, is_new = await _keep(task, owner_id, file)
    except (IncompleteUpload, NotFound):
        await task.say(say(language, "not_received", file=file.name))
        return
    except RefusedCall:  # larger than Telegram delivers, although it gave no size
        limit = megabytes(desk.max_bytes)
        await task.say(say(language, "too_large", file=file.name, size=f"> {limit}", limit=limit))
        return
    except CitewellError as error:
        await task.say(say(language, "refused", file=file.name, reason=error.message))
        return
    await _follow(task, owner_id, file, resource, is_new)


async def _keep(task: Task, owner_id: str, file: SentFile) -> tuple[Resource, bool]:
    """The resource of a file, and whether this message added it."""
    resources = task.desk.services.resources
    spooled = await _fetched(task, owner_id, file)
    known = await resources.known(owner_id, spooled.content_hash)
    said = Said(metadata=_metadata(task, file), thread=thread_name(task.place))
    brought_here = known is not None and _brought(known, task)
    resource, _ = await resources.upload(
        owner_id, spooled, file.name, said=None if known is not None else said, source=SOURCE
    )
    return resource, known is None or brought_here


async def _fetched(task: Task, owner_id: str, file: SentFile) -> Spooled:
    """The complete bytes. Raises `IncompleteUpload` if every download was interrupted."""
    for attempt in range(1, _DOWNLOADS + 1):
        try:
            async with task.desk.services.resources.open_spool(owner_id, file.size or 0) as spool:
                pieces: AsyncGenerator[bytes] = task.desk.calls.download(file.file_id, file.size)
                async with aclosing(pieces):
                    async for piece in pieces:
                        spool.write(piece)
                return spool.finish()
        except IncompleteUpload:
            if attempt == _DOWNLOADS:
                raise
            await task.desk.calls.sleep(float(attempt))
    raise IncompleteUpload


def _brought(resource: Resource, task: Task) -> bool:
    said = resource.metadata
    place = task.place
    return (said.get("telegram_chat"), said.get("telegram_message")) == (place.chat_id, task.incoming.message_id)


def _metadata(task: Task, file: SentFile) -> dict[str, JsonValue]:
    incoming, place = task.incoming, task.place
    said: dict[str, JsonValue] = {
        "channel": SOURCE,
        "telegram_user": place.user_id,
        "telegram_chat": place.chat_id,
        "telegram_thread": place.topic_id,
        "telegram_message": incoming.message_id,
        "telegram_file": file.file_id[:_MAX_SAID],
        "telegram_file_unique": file.unique_id[:_MAX_SAID],
        "sender": incoming.name[:_MAX_SAID],
        "sent": datetime.fromtimestamp(incoming.sent_at, UTC).isoformat(),
    }
    if caption := " ".join((incoming.words or incoming.album_caption).split()):
        said["caption"] = caption[:_MAX_SAID]
    if incoming.forwarded_from.strip():
        said["forwarded_from"] = incoming.forwarded_from[:_MAX_SAID]
    return said


async def _follow(task: Task, owner_id: str, file: SentFile, resource: Resource, is_new: bool) -> None:
    """Have `watch` edit the message of this file as it passes the stages, also after a restart."""
    desk, chats = task.desk, task.desk.services.telegram.chats
    if not is_new:
        await task.say(say(task.incoming.language, "duplicate", file=file.name, name=resource.filename))
    question = task.incoming.words.strip()
    body: JsonObject = {}
    if question.endswith(_QUESTION):
        body = _as_question(task.update.body, task.update.update_id, resource.id)
    if is_new or body:
        await chats.add_file(
            TelegramFile(
                bot_id=desk.bot_id,
                chat_id=task.place.chat_id,
                message_id=task.incoming.message_id,
                owner_id=owner_id,
                resource_id=resource.id,
                topic_id=task.place.topic_id,
                user_id=task.place.user_id,
                language=task.incoming.language,
                status_message_id=(task.first_message() or 0) if is_new else 0,
                question=body,
            )
        )


def _as_question(body: JsonObject, update_id: int, resource_id: str) -> JsonObject:
    """A caption as a separate message about its file: an update with an id that Telegram never uses."""
    message = body.get("message")
    told = message if isinstance(message, dict) else {}
    kept = ("message_id", "date", "chat", "from", "message_thread_id", "is_topic_message")
    asked: JsonObject = {name: told[name] for name in kept if name in told}
    asked["text"] = told.get("caption")
    # In a group, the file's message has already addressed the bot.
    return {"update_id": -update_id, "message": asked, ABOUT: resource_id}


async def watch(desk: Desk, file: TelegramFile) -> None:
    """Edit the message of a file until its final state; then ask the question in its caption, if any."""
    resources, chats = desk.services.resources, desk.services.telegram.chats
    shown = file.shown
    try:
        async for _ in resources.follow(file.owner_id, file.resource_id):
            resource = await resources.repository.get(file.owner_id, file.resource_id)
            if not await chats.may_be_told(file):  # watched again when the owner is reinstated
                return
            if resource.status.value != shown and resource.status not in TERMINAL:
                await _tell(desk, file, _of_status(resource, file.language))
                shown = resource.status.value
        resource = await resources.repository.get(file.owner_id, file.resource_id)
    except NotFound:  # deleted meanwhile, and its row with it
        return
    await _tell(desk, file, _of_status(resource, file.language))
    if file.question:
        number = file.question.get("update_id")
        if isinstance(number, int):
            await desk.services.telegram.inbox.keep(desk.bot_id, [(number, file.chat_id, file.question)])
    await chats.change_file(file, shown=resource.status.value, finished_at=time.time())


async def _tell(desk: Desk, file: TelegramFile, text: Rich) -> None:
    if not file.status_message_id:
        return
    (part, *_) = text.parts() or [RichPart("")]
    try:
        await desk.edit(file.chat_id, file.status_message_id, part)
    except (MessageGone, BotBlocked, RefusedCall):
        return


def _of_status(resource: Resource, language: str) -> Rich:
    if resource.status in (Status.PARTIAL, Status.FAILED):
        reason = resource.error_message or ""
        return say(language, resource.status.value, file=resource.filename, reason=reason)
    return say(language, resource.status.value, file=resource.filename)
