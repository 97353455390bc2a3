"""Telegram's Bot API as published (https://core.telegram.org/bots/api, Bot API 9): what a bot may send, and the errors that it gets.

People write, send files and tap buttons through `Person`; what they would see of a chat is in `shown`.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from PIL import Image
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

SPECIFICATION = "Bot API 9.2"
TOKEN = "7100200300:AAF-contract_server-0123456789abcdefg"
BOT = {"id": 7100200300, "is_bot": True, "first_name": "Citewell", "username": "citewell_test_bot"}
DOWNLOAD_LIMIT = 20 * 1024 * 1024
MESSAGE_UNITS, CAPTION_UNITS, NOTICE_LENGTH, DATA_BYTES = 4096, 1024, 200, 64
_RESERVED = "_*[]()~`>#+-=|{}.!"
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_ENTITIES = {"bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "blockquote", "text_link"}


class Refusal(Exception):
    """An error as the Bot API gives it."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        self.status, self.description, self.parameters = status, description, parameters


@dataclass(kw_only=True)
class Trouble:
    """What goes wrong with the next call of a method, or with the next download (`method="download"`).

    status, description, retry_after: this answer, and nothing is done. lost: it is done, and the connection breaks before the answer.
    half: a download ends in the middle.
    """

    method: str
    status: int = 0
    description: str = "Internal Server Error"
    retry_after: int | None = None
    lost: bool = False
    half: bool = False


@dataclass(kw_only=True)
class Shown:
    """A message as its reader sees it. history: what it said before."""

    id: int
    chat_id: int
    text: str
    entities: list[dict[str, Any]]
    buttons: list[list[dict[str, str]]]
    topic: int | None = None
    photo: bytes | None = None
    reply_to: int | None = None
    history: list[str] = field(default_factory=list[str])

    def styled(self, kind: str) -> list[str]:
        """The stretches of text that have a style."""
        raw = self.text.encode("utf-16-le")
        return [
            raw[2 * e["offset"] : 2 * (e["offset"] + e["length"])].decode("utf-16-le")
            for e in self.entities
            if e["type"] == kind
        ]


class TelegramServer:
    """The Bot API for one bot, and the chats behind it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.shown: list[Shown] = []
        self.troubles: list[Trouble] = []
        self.notices: dict[str, str] = {}
        self.commands: dict[str, list[dict[str, str]]] = {}
        self.blocked: set[int] = set()
        self.chats: dict[int, dict[str, Any]] = {}
        self.webhook: dict[str, str] = {}
        self.reached: dict[str, str] = {}
        """Where an address of the webhook leads to in the tests: `https://…` to the server that stands for it."""
        self.refused_deliveries: list[int] = []
        self.on_call: Callable[[str], None] = lambda method: None
        self._updates: list[dict[str, Any]] = []
        self._files: dict[str, tuple[bytes, int]] = {}
        self._taps: set[str] = set()
        self._next = {"update": 1000, "message": 1, "file": 1}
        self._lock = threading.RLock()
        self.app = Starlette(
            routes=[
                Route("/bot{token}/{method}", self._call, methods=["GET", "POST"]),
                Route("/file/bot{token}/{path:path}", self._download),
            ]
        )

    # ---- People ----

    def number(self, kind: str) -> int:
        """The next id of a kind."""
        with self._lock:
            self._next[kind] += 1
            return self._next[kind]

    def deliver(self, update: dict[str, Any]) -> dict[str, Any]:
        """Have an update arrive at the bot, by polling or by the webhook."""
        update = {"update_id": self.number("update"), **update}
        with self._lock:
            self._updates.append(update)
        if self.webhook:
            self._post(update)
        return update

    def repeat(self, updates: list[dict[str, Any]]) -> None:
        """Have updates arrive (again), in this order."""
        with self._lock:
            self._updates += updates

    def keep_file(self, content: bytes, size: int | None = None) -> tuple[str, str]:
        """Keep a file; its id and unique id."""
        number = self.number("file")
        file_id = f"BQACAgIAAxkBAAI{number:06d}"
        self._files[file_id] = content, len(content) if size is None else size
        return file_id, f"AgAD{number:06d}"

    def of_chat(self, chat_id: int) -> list[Shown]:
        """What the bot has written in a chat."""
        return [one for one in self.shown if one.chat_id == chat_id]

    def _post(self, update: dict[str, Any]) -> None:
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.webhook["secret_token"]}
        address = httpx.URL(self.webhook["url"])
        url = f"{self.reached[f'{address.scheme}://{address.host}']}{address.path}"
        status = httpx.post(url, json=update, headers=headers, timeout=30).status_code
        if status != 200:
            self.refused_deliveries.append(status)

    # ---- Methods ----

    async def _call(self, request: Request) -> Response:
        method = request.path_params["method"]
        try:
            if request.path_params["token"] != TOKEN:
                raise Refusal(401, "Unauthorized")
            work = getattr(self, f"_do_{method.lower()}", None)
            if work is None:
                raise Refusal(404, "Not Found")
            given = await _given(request)
            trouble = self._trouble(method)
            if trouble is not None and not trouble.lost:
                extra = {} if trouble.retry_after is None else {"retry_after": trouble.retry_after}
                raise Refusal(trouble.status, trouble.description, **extra)
            self.on_call(method)
            result = await work(given) if method == "getUpdates" else self._locked(work, given)
            self.calls.append((method, given))
        except Refusal as error:
            body: dict[str, Any] = {"ok": False, "error_code": error.status, "description": error.description}
            if error.parameters:
                body["parameters"] = error.parameters
            return JSONResponse(body, error.status)
        if trouble is not None:
            return StreamingResponse(_broken(), headers={"content-length": "1000"})
        return JSONResponse({"ok": True, "result": result})

    def _locked(self, work: Callable[[dict[str, Any]], Any], given: dict[str, Any]) -> Any:
        with self._lock:
            return work(given)

    def _trouble(self, method: str) -> Trouble | None:
        with self._lock:
            found = next((one for one in self.troubles if one.method == method), None)
            if found is not None:
                self.troubles.remove(found)
            return found

    def _do_getme(self, _: dict[str, Any]) -> Any:
        return {**BOT, "can_join_groups": True, "can_read_all_group_messages": False, "supports_inline_queries": False}

    def _do_setmycommands(self, given: dict[str, Any]) -> Any:
        for one in given["commands"]:
            if not re.fullmatch(r"[a-z0-9_]{1,32}", one["command"]) or not 1 <= len(one["description"]) <= 256:
                raise Refusal(400, "Bad Request: BOT_COMMAND_INVALID")
        self.commands[given.get("language_code", "")] = given["commands"]
        return True

    def _do_setwebhook(self, given: dict[str, Any]) -> Any:
        if not _SECRET.fullmatch(given.get("secret_token", "")):
            raise Refusal(400, "Bad Request: secret token contains unallowed characters")
        address = httpx.URL(given["url"])
        if address.scheme != "https":
            raise Refusal(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
        if address.port not in (None, 443, 80, 88, 8443):
            raise Refusal(400, "Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
        self.webhook = {"url": given["url"], "secret_token": given["secret_token"]}
        return True

    def _do_deletewebhook(self, _: dict[str, Any]) -> Any:
        self.webhook = {}
        return True

    async def _do_getupdates(self, given: dict[str, Any]) -> Any:
        if self.webhook:
            raise Refusal(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            )
        offset, end = given.get("offset"), time.monotonic() + given.get("timeout", 0)
        while True:
            with self._lock:
                if offset is not None:
                    self._updates = [one for one in self._updates if one["update_id"] >= offset]
                ready = self._updates[: given.get("limit", 100)]
            if ready or time.monotonic() > end:
                return ready
            await asyncio.sleep(0.01)

    def _do_sendmessage(self, given: dict[str, Any]) -> Any:
        self._check_chat(given)
        text, entities = _checked_text(given, "text", "entities", MESSAGE_UNITS)
        if not text:
            raise Refusal(400, "Bad Request: message text is empty")
        return self._show(given, text, entities, None)

    def _do_sendphoto(self, given: dict[str, Any]) -> Any:
        self._check_chat(given)
        picture: bytes = given["photo"]
        if len(picture) > 10_000_000:
            raise Refusal(413, "Request Entity Too Large")
        try:
            with Image.open(io.BytesIO(picture)) as image:
                width, height = image.size
        except OSError as error:
            raise Refusal(400, "Bad Request: IMAGE_PROCESS_FAILED") from error
        if width + height > 10_000 or max(width, height) > 20 * min(width, height):
            raise Refusal(400, "Bad Request: PHOTO_INVALID_DIMENSIONS")
        text, entities = _checked_text(given, "caption", "caption_entities", CAPTION_UNITS)
        return self._show(given, text, entities, picture)

    def _do_editmessagetext(self, given: dict[str, Any]) -> Any:
        self._check_chat(given)
        text, entities = _checked_text(given, "text", "entities", MESSAGE_UNITS)
        found = next((one for one in self.of_chat(given["chat_id"]) if one.id == given["message_id"]), None)
        if found is None:
            raise Refusal(400, "Bad Request: message to edit not found")
        buttons = _checked_buttons(given)
        if (text, entities, buttons) == (found.text, found.entities, found.buttons):
            raise Refusal(
                400,
                "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current "
                "content and reply markup of the message",
            )
        found.history.append(found.text)
        found.text, found.entities, found.buttons = text, entities, buttons
        return self._message(found)

    def _do_answercallbackquery(self, given: dict[str, Any]) -> Any:
        if given["callback_query_id"] not in self._taps:
            raise Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(given.get("text", "")) > NOTICE_LENGTH:
            raise Refusal(400, "Bad Request: MESSAGE_TOO_LONG")
        self._taps.remove(given["callback_query_id"])
        self.notices[given["callback_query_id"]] = given.get("text", "")
        return True

    def _do_sendchataction(self, given: dict[str, Any]) -> Any:
        self._check_chat(given)
        return True

    def _do_getfile(self, given: dict[str, Any]) -> Any:
        if given["file_id"] not in self._files:
            raise Refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        _, size = self._files[given["file_id"]]
        if size > DOWNLOAD_LIMIT:
            raise Refusal(400, "Bad Request: file is too big")
        path = f"documents/{given['file_id']}"
        return {"file_id": given["file_id"], "file_unique_id": "AgAD", "file_size": size, "file_path": path}

    async def _download(self, request: Request) -> Response:
        content = self._files.get(request.path_params["path"].removeprefix("documents/"))
        if request.path_params["token"] != TOKEN or content is None:
            return JSONResponse({"ok": False, "error_code": 404, "description": "Not Found"}, 404)
        trouble = self._trouble("download")
        if trouble is not None and trouble.half:
            headers = {"content-length": str(len(content[0]))}
            return StreamingResponse(_half(content[0]), headers=headers)
        if trouble is not None:
            return Response(status_code=trouble.status)
        return Response(content[0], media_type="application/octet-stream")

    # ---- What methods share ----

    def _check_chat(self, given: dict[str, Any]) -> None:
        if given["chat_id"] not in self.chats:
            raise Refusal(400, "Bad Request: chat not found")
        if given["chat_id"] in self.blocked:
            raise Refusal(403, "Forbidden: bot was blocked by the user")

    def _show(
        self, given: dict[str, Any], text: str, entities: list[dict[str, Any]], photo: bytes | None
    ) -> dict[str, Any]:
        reply = given.get("reply_parameters", {}).get("message_id")
        shown = Shown(
            id=self.number("message"),
            chat_id=given["chat_id"],
            text=text,
            entities=entities,
            buttons=_checked_buttons(given),
            topic=given.get("message_thread_id"),
            photo=photo,
            reply_to=reply,
        )
        self.shown.append(shown)
        return self._message(shown)

    def _message(self, shown: Shown) -> dict[str, Any]:
        message: dict[str, Any] = {
            "message_id": shown.id,
            "from": BOT,
            "chat": self.chats[shown.chat_id],
            "date": int(time.time()),
            "text": shown.text,
        }
        if shown.topic is not None:
            message |= {"message_thread_id": shown.topic, "is_topic_message": True}
        return message


@dataclass(kw_only=True)
class Person:
    """Somebody who uses Telegram, in a chat: the private one with the bot unless another is named."""

    server: TelegramServer
    id: int
    name: str = "Ann"
    language: str = "en"
    chat: dict[str, Any] = field(default_factory=dict[str, Any])
    topic: int | None = None

    def __post_init__(self) -> None:
        self.chat = self.chat or {"id": self.id, "type": "private", "first_name": self.name}
        self.server.chats[self.chat["id"]] = self.chat

    def write(self, text: str, **more: Any) -> dict[str, Any]:
        """Send a text."""
        return self.server.deliver({"message": {**self._message(), "text": text, **more}})

    def send(self, name: str, content: bytes, caption: str = "", **more: Any) -> dict[str, Any]:
        """Send a document; `size` may say another size than it has."""
        file_id, unique = self.server.keep_file(content, more.get("size"))
        size = more.pop("size", len(content))
        document = {"file_id": file_id, "file_unique_id": unique, "file_name": name, "file_size": size}
        said = {"caption": caption} if caption else {}
        return self.server.deliver({"message": {**self._message(), "document": document, **said, **more}})

    def photo(self, content: bytes, **more: Any) -> dict[str, Any]:
        """Send a photo, of which Telegram makes several sizes."""
        file_id, unique = self.server.keep_file(content)
        small, _ = self.server.keep_file(b"small")
        sizes = [
            {"file_id": small, "file_unique_id": "s", "width": 90, "height": 60, "file_size": 5},
            {"file_id": file_id, "file_unique_id": unique, "width": 900, "height": 600, "file_size": len(content)},
        ]
        return self.server.deliver({"message": {**self._message(), "photo": sizes, **more}})

    def voice(self, caption: str = "", **more: Any) -> dict[str, Any]:
        """Send a voice message."""
        file_id, unique = self.server.keep_file(b"OggS")
        voice = {"file_id": file_id, "file_unique_id": unique, "duration": 3, "mime_type": "audio/ogg", "file_size": 4}
        said = {"caption": caption} if caption else {}
        return self.server.deliver({"message": {**self._message(), "voice": voice, **said, **more}})

    def tap(self, shown: Shown, data: str) -> str:
        """Tap a button; the id of the tap, under which `notices` has what is said to it."""
        tap = str(self.server.number("update") * 1000 + self.id)
        self.server._taps.add(tap)
        message = self.server._message(shown)
        query = {"id": tap, "from": self._person(), "message": message, "chat_instance": "1", "data": data}
        self.server.deliver({"callback_query": query})
        return tap

    def _person(self) -> dict[str, Any]:
        return {"id": self.id, "is_bot": False, "first_name": self.name, "language_code": self.language}

    def _message(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "message_id": self.server.number("message"),
            "from": self._person(),
            "chat": self.chat,
            "date": int(time.time()),
        }
        if self.topic is not None:
            message |= {"message_thread_id": self.topic, "is_topic_message": True}
        return message


async def _given(request: Request) -> dict[str, Any]:
    """The parameters of a call, which may come as a form, whose values are JSON where they are no texts."""
    given: dict[str, Any] = dict(request.query_params)
    files: dict[str, bytes] = {}
    async with request.form() as form:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                files[name] = await value.read()
            else:
                given[name] = value
    texts = {
        "text",
        "caption",
        "url",
        "secret_token",
        "callback_query_id",
        "file_id",
        "parse_mode",
        "language_code",
        "action",
    }
    for name, value in given.items():
        if name not in texts and not str(value).startswith("attach://"):
            given[name] = json.loads(value) if value not in ("True", "False") else value == "True"
    for name, value in given.items():
        if isinstance(value, str) and value.startswith("attach://"):
            given[name] = files[value.removeprefix("attach://")]
    return given


def _checked_text(given: dict[str, Any], name: str, styles: str, limit: int) -> tuple[str, list[dict[str, Any]]]:
    text: str = given.get(name, "")
    if given.get("parse_mode") == "MarkdownV2":
        _check_markdown(text)
    units = len(text.encode("utf-16-le")) // 2
    if units > limit:
        raise Refusal(400, f"Bad Request: {'message is' if name == 'text' else 'message caption is'} too long")
    entities: list[dict[str, Any]] = given.get(styles, [])
    for one in entities:
        if (
            one["type"] not in _ENTITIES
            or one["offset"] < 0
            or one["length"] < 1
            or one["offset"] + one["length"] > units
        ):
            raise Refusal(400, "Bad Request: ENTITY_BOUNDS_INVALID")
    if len(entities) > 100:
        raise Refusal(400, "Bad Request: ENTITIES_TOO_LONG")
    return text, entities


def _check_markdown(text: str) -> None:
    """The first character that MarkdownV2 reserves and that is neither escaped nor part of a pair."""
    place, open_styles = 0, dict[str, int]()
    while place < len(text):
        character = text[place]
        if character == "\\":
            place += 2
            continue
        if character in "_*~`":
            open_styles[character] = open_styles.get(character, 0) + 1
        elif character in _RESERVED:
            raise Refusal(
                400,
                f"Bad Request: can't parse entities: Character '{character}' is reserved and must be escaped with the preceding '\\'",
            )
        place += 1
    for character, count in open_styles.items():
        if count % 2:
            offset = len(text[: text.find(character)].encode())
            raise Refusal(
                400, f"Bad Request: can't parse entities: Can't find end of the entity starting at byte offset {offset}"
            )


def _checked_buttons(given: dict[str, Any]) -> list[list[dict[str, str]]]:
    rows: list[list[dict[str, str]]] = given.get("reply_markup", {}).get("inline_keyboard", [])
    for button in (button for row in rows for button in row):
        if not 1 <= len(button["callback_data"].encode()) <= DATA_BYTES or not button["text"]:
            raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
    return rows


def _half(content: bytes) -> Iterator[bytes]:
    yield content[: len(content) // 2]
    raise ConnectionError("the connection breaks here, as the test wants")


def _broken() -> Iterator[bytes]:
    yield b'{"ok": true'
    raise ConnectionError("the connection breaks here, as the test wants")
