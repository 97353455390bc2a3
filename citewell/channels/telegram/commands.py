"""The bot's commands, and taps on their buttons. Commands that delete ask for confirmation."""

from __future__ import annotations

from dataclasses import replace

from citewell.channels.telegram.calls import MessageGone
from citewell.channels.telegram.desk import Buttons, Task
from citewell.channels.telegram.rich import Rich, one_line
from citewell.channels.telegram.texts import plain, say
from citewell.channels.telegram.uploads import megabytes
from citewell.errors import NotFound
from citewell.storage.channels.telegram import TelegramConversation
from citewell.types import JsonObject, Resource, ResourceFilter

_ON_A_PAGE = 10
_MAX_PAGES = 20
_MAX_CHOICES = 8
_MAX_PROJECTS = 12
_MAX_NAME = 40
_LISTED = 200


async def run_command(task: Task, owner_id: str) -> bool:
    """Run a command; False if the bot does not know it."""
    known = {"start": _help, "help": _help, "files": _files, "delete": _delete, "scope": _scope, "forget": _forget}
    work = known.get(task.incoming.command)
    if work is None:
        return False
    await work(task, owner_id)
    return True


async def run_tap(task: Task, owner_id: str) -> None:
    """Handle a tap on a button of a command's message, by changing that message."""
    kind, _, rest = task.incoming.tap.partition(":")
    await task.desk.notice(task.incoming)
    match kind:
        case "f":
            text, buttons = await _file_page(task, owner_id, int(rest) if rest.isdecimal() and len(rest) < 4 else 0)
        case "d":
            text, buttons = await _ask_to_delete(task, owner_id, rest)
        case "D":
            text, buttons = await _deleted(task, owner_id, rest), ()
        case "s":
            text, buttons = await _set_scope(task, owner_id, rest)
        case "g":
            text, buttons = await _forgotten(task, owner_id, rest), ()
        case _:
            text, buttons = say(task.incoming.language, "kept"), ()
    (part, *_) = text.parts()
    try:
        await task.desk.edit(task.place.chat_id, task.incoming.message_id, part, buttons)
    except MessageGone:
        await task.say(text, buttons)


async def _help(task: Task, owner_id: str) -> None:
    await task.say(say(task.incoming.language, "help", limit=megabytes(task.desk.max_bytes)))


async def _files(task: Task, owner_id: str) -> None:
    await task.say(*await _file_page(task, owner_id, 0))


async def _file_page(task: Task, owner_id: str, page: int) -> tuple[Rich, Buttons]:
    language, resources = task.incoming.language, task.desk.services.resources
    page, cursor = min(page, _MAX_PAGES), None
    found, cursor = await resources.page(owner_id, ResourceFilter(), _ON_A_PAGE, None)
    for _ in range(page):
        if cursor is None:
            break
        found, cursor = await resources.page(owner_id, ResourceFilter(), _ON_A_PAGE, cursor)
    if not found:
        return say(language, "no_files"), ()
    rich = Rich().add(plain(language, "files"), "bold")
    for number, one in enumerate(found, page * _ON_A_PAGE + 1):
        rich.add(f"\n{number}. ").add(one_line(one.filename, 100), "code").add(f" · {one.status.value}")
    row: list[tuple[str, str]] = []
    if page:
        row.append((plain(language, "newer"), f"f:{page - 1}"))
    if cursor is not None and page < _MAX_PAGES:
        row.append((plain(language, "older"), f"f:{page + 1}"))
    return rich, [row] if row else ()


async def _delete(task: Task, owner_id: str) -> None:
    language, name = task.incoming.language, task.incoming.words.strip()
    resources = task.desk.services.resources
    found, _ = await resources.page(owner_id, ResourceFilter(), _LISTED, None)
    wanted = [one for one in found if name.casefold() in one.filename.casefold()][:_MAX_CHOICES]
    if not wanted:
        await task.say(say(language, "no_such_file", name=name) if name else say(language, "no_files"))
        return
    choices = [[(one_line(one.filename, _MAX_NAME), f"d:{one.id}")] for one in wanted]
    await task.say(say(language, "which_delete"), [*choices, [(plain(language, "keep"), "x")]])


async def _ask_to_delete(task: Task, owner_id: str, resource_id: str) -> tuple[Rich, Buttons]:
    language = task.incoming.language
    resource = await _resource(task, owner_id, resource_id)
    if resource is None:
        return say(language, "gone"), ()
    buttons = [[(plain(language, "delete"), f"D:{resource_id}"), (plain(language, "keep"), "x")]]
    return say(language, "sure", file=resource.filename), buttons


async def _deleted(task: Task, owner_id: str, resource_id: str) -> Rich:
    language = task.incoming.language
    resource = await _resource(task, owner_id, resource_id)
    if resource is None:
        return say(language, "gone")
    await task.desk.services.resources.delete(owner_id, resource_id)
    return say(language, "deleted", file=resource.filename)


async def _resource(task: Task, owner_id: str, resource_id: str) -> Resource | None:
    try:
        return await task.desk.services.resources.repository.get(owner_id, resource_id)
    except NotFound:
        return None


async def _scope(task: Task, owner_id: str) -> None:
    await task.say(*await _scopes(task, owner_id))


async def _scopes(task: Task, owner_id: str) -> tuple[Rich, Buttons]:
    """Show the current scope of questions, and the scopes to choose from."""
    language, services = task.incoming.language, task.desk.services
    scope = (await services.telegram.chats.conversation(owner_id, task.place)).scope
    projects = await services.projects.repository.all(owner_id)
    named = next((one.name for one in projects if one.id == scope.get("project")), "")
    now = named or plain(language, "scope_here" if scope.get("here") else "scope_all")
    choices = [[(plain(language, "scope_all"), "s:a")], [(plain(language, "scope_here"), "s:h")]]
    if len(projects) > 1:
        choices += [[(one_line(one.name, _MAX_NAME), f"s:{one.id}")] for one in projects[:_MAX_PROJECTS]]
    return say(language, "scope", scope=one_line(now, 100)), choices


async def _set_scope(task: Task, owner_id: str, chosen: str) -> tuple[Rich, Buttons]:
    services = task.desk.services
    scope: JsonObject = {"a": {}, "h": {"here": True}}.get(chosen) or {}
    if chosen not in ("a", "h"):
        if chosen not in {one.id for one in await services.projects.repository.all(owner_id)}:
            return say(task.incoming.language, "not_yours"), ()
        scope = {"project": chosen}
    kept = await services.telegram.chats.conversation(owner_id, task.place)
    await services.telegram.chats.keep_conversation(owner_id, task.place, replace(kept, scope=scope))
    return await _scopes(task, owner_id)


async def _forget(task: Task, owner_id: str) -> None:
    language = task.incoming.language
    choices = [[(plain(language, "forget_talk"), "g:c")]]
    if await task.desk.services.telegram.repository.owner_of(task.place.user_id) is not None:
        choices.append([(plain(language, "forget_me"), "g:u")])
    else:  # an owner created for this chat, which nothing else can reach
        choices.append([(plain(language, "forget_all"), "g:d")])
    await task.say(say(language, "forget"), [*choices, [(plain(language, "keep"), "x")]])


async def _forgotten(task: Task, owner_id: str, what: str) -> Rich:
    services, language = task.desk.services, task.incoming.language
    linked = await services.telegram.repository.owner_of(task.place.user_id) is not None
    if what == "u" and linked:
        await services.telegram.unlink(owner_id, task.place.user_id)
        return say(language, "forgot_me")
    if what == "d" and not linked:
        await _delete_all(task, owner_id)
        return say(language, "forgot_all")
    kept = await services.telegram.chats.conversation(owner_id, task.place)
    if kept.thread_id is not None:
        try:
            await services.threads.repository.delete(owner_id, kept.thread_id)
        except NotFound:  # deleted in the browser at the same time
            kept = TelegramConversation(scope=kept.scope)
    await services.telegram.chats.keep_conversation(owner_id, task.place, replace(kept, thread_id=None))
    return say(language, "forgot_talk")


async def _delete_all(task: Task, owner_id: str) -> None:
    services = task.desk.services
    while True:
        found, _ = await services.resources.page(owner_id, ResourceFilter(), _LISTED, None)
        if not found:
            break
        for one in found:
            try:
                await services.resources.delete(owner_id, one.id)
            except NotFound:  # inside another file that was just deleted
                continue
    while True:
        threads, _ = await services.threads.repository.page(owner_id, _LISTED, None, None)
        if not threads:
            break
        for thread in threads:
            await services.threads.repository.delete(owner_id, thread.id)
    await services.telegram.chats.leave(owner_id, task.place.user_id)
