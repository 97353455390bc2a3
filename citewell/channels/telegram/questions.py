"""Questions: each asked exactly once even if the process dies, and answered with numbered sources and buttons that show them."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from aiogram.methods import SendChatAction

from citewell.agent.interface import Done, Failed
from citewell.channels.telegram.calls import BotBlocked, RefusedCall, TelegramAway
from citewell.channels.telegram.desk import Buttons, Desk, Task
from citewell.channels.telegram.rich import Rich, one_line, rich_answer
from citewell.channels.telegram.texts import plain, say
from citewell.errors import NotFound, Unavailable, from_code
from citewell.features.chat.service import ChatRequest
from citewell.storage.channels.telegram import TelegramPlace
from citewell.types import Citation, Condition, JsonObject, Operator, Verdict

_TITLE = 80
_MAX_LABEL = 120
_MAX_BUTTONS = 12
"""Sources with a button; more would push the answer off a phone's screen."""
_IN_ROW = 3
_TYPING_SECONDS = 4.5
"""Telegram shows `typing` for five seconds."""


def thread_name(place: TelegramPlace) -> str:
    """The `thread` of files from a chat or one of its topics."""
    return f"telegram:{place.chat_id}" + (f":{place.topic_id}" if place.topic_id else "")


async def ask(task: Task, owner_id: str, question: str) -> None:
    """Answer a question in the conversation of its chat or topic."""
    services, language = task.desk.services, task.incoming.language
    await services.auth.admit(owner_id)
    again = bool(task.progress)
    if task.first_message() is None:
        await task.say(say(language, "searching"))
    thread_id = await _thread(task, owner_id, question)
    text, cited, notice = await _kept(task, owner_id, thread_id) if again else ("", (), "")
    if not text:
        if again:
            await _take_back(task, owner_id, thread_id, question)
        async with _typing(task):
            text, cited, notice = await _answer(task, owner_id, thread_id, question)
    await task.say(_shown(text, cited, notice, language), _buttons(thread_id, str(task.progress["answer"]), cited))


async def _thread(task: Task, owner_id: str, question: str) -> str:
    """The thread of a chat or topic; a new one if there is none or it was deleted."""
    services = task.desk.services
    kept = await services.telegram.chats.conversation(owner_id, task.place)
    if kept.thread_id is not None:
        return kept.thread_id
    thread = await services.threads.create(owner_id, one_line(question, _TITLE) or "Telegram")
    await services.telegram.chats.keep_conversation(owner_id, task.place, replace(kept, thread_id=thread.id))
    return thread.id


async def _kept(task: Task, owner_id: str, thread_id: str) -> tuple[str, tuple[Citation, ...], str]:
    """The answer, if it was completed before the process died."""
    with suppress(NotFound):
        for shown in (await task.desk.services.threads.get(owner_id, thread_id)).messages:
            if shown.message.id == task.progress.get("answer") and shown.message.content:
                return shown.message.content, shown.message.citations, str(shown.message.details.get("notice") or "")
    return "", (), ""


async def _take_back(task: Task, owner_id: str, thread_id: str, question: str) -> None:
    """Remove a question that was recorded but not answered before the process died: it is asked again."""
    with suppress(NotFound):
        messages = (await task.desk.services.threads.get(owner_id, thread_id)).messages
        if messages and messages[-1].message.role == "user" and messages[-1].message.content == question:
            await task.desk.services.threads.repository.cut(owner_id, thread_id, messages[-1].message.id)


async def _answer(task: Task, owner_id: str, thread_id: str, question: str) -> tuple[str, tuple[Citation, ...], str]:
    turn = await task.desk.services.chat.begin(await _request(task, owner_id, thread_id, question))
    await task.note(answer=turn.message_id)
    notices = [turn.notice]
    async for event in turn.events:
        if isinstance(event, Failed):
            raise from_code(event.code, event.message, event.details)
        if isinstance(event, Done):
            notices.append(event.notice)
            answer = event.answer
            text = answer.text
            if answer.no_answer is not None:
                text = f"{answer.no_answer.text} {answer.no_answer.hint}".strip()
            return text, answer.citations, " ".join(filter(None, notices))
    raise Unavailable("The answer ended too early. Ask again.")


async def _request(task: Task, owner_id: str, thread_id: str, question: str) -> ChatRequest:
    """The question within the scope of its chat or topic; a caption is about its file."""
    request = ChatRequest(owner_id=owner_id, message=question, thread_id=thread_id)
    if task.incoming.about is not None:
        return replace(request, resource_ids=(task.incoming.about,))
    scope = (await task.desk.services.telegram.chats.conversation(owner_id, task.place)).scope
    return in_scope(request, scope, task.place)


def in_scope(request: ChatRequest, scope: JsonObject, place: TelegramPlace) -> ChatRequest:
    """The request within a scope: `{}` for all files, `{"here": true}` for the chat's, `{"project": id}` for a project's."""
    if scope.get("here"):
        return replace(request, filters=(Condition("thread", Operator.EQ, thread_name(place)),))
    project = scope.get("project")
    return replace(request, projects=(project,)) if isinstance(project, str) else request


def _shown(text: str, cited: tuple[Citation, ...], notice: str, language: str) -> Rich:
    rich = rich_answer(text.strip())
    if cited:
        rich.add("\n\n").add(plain(language, "sources"), "bold")
    for citation in _distinct(cited):
        rich.add(f"\n[{citation.n}] ").add(one_line(citation.label, _MAX_LABEL), "code")
        if citation.verdict is not Verdict.SUPPORTED:
            rich.add(plain(language, citation.verdict.value))
    return rich.add(f"\n\n{notice}", "italic") if notice else rich


def _distinct(cited: tuple[Citation, ...]) -> list[Citation]:
    """One citation for each number, in order."""
    by_number = {citation.n: citation for citation in reversed(cited)}
    return [by_number[n] for n in sorted(by_number)]


def _buttons(thread_id: str, message_id: str, cited: tuple[Citation, ...]) -> Buttons:
    data = f"c:{packed(thread_id)}:{packed(message_id)}"
    each = [
        (f"{one.n} · {one_line(one.locator.place() or one.filename, 20)}", f"{data}:{one.n}")
        for one in _distinct(cited)[:_MAX_BUTTONS]
    ]
    return [each[start : start + _IN_ROW] for start in range(0, len(each), _IN_ROW)]


def packed(identifier: str) -> str:
    """A UUID in 22 characters: a button carries two of them in 64 bytes."""
    return base64.urlsafe_b64encode(uuid.UUID(identifier).bytes).decode().rstrip("=")


def unpacked(text: str) -> str:
    """The inverse of `packed`. Raises `ValueError` for anything else."""
    return str(uuid.UUID(bytes=base64.urlsafe_b64decode(text + "==")))


@asynccontextmanager
async def _typing(task: Task) -> AsyncGenerator[None]:
    """Show `typing` in the chat while the block runs."""
    showing = asyncio.create_task(_show_typing(task.desk, task.place))
    try:
        yield
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


async def _show_typing(desk: Desk, place: TelegramPlace) -> None:
    action = SendChatAction(chat_id=place.chat_id, message_thread_id=place.topic_id or None, action="typing")
    with suppress(BotBlocked, RefusedCall, TelegramAway):
        while True:
            await desk.calls(action)
            await asyncio.sleep(_TYPING_SECONDS)
