"""Request bodies: limits their size, and how long they may keep a request waiting. Plain ASGI, like `health.observer`."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.errors import CitewellError, RequestTimeout, TooLarge
from citewell.features.http import error_response

_KEY = "citewell.body"
UNKNOWN_SENDER_BYTES = 64 * 1024
"""Bytes of a body without a credential; the longest such body, a sign-up, has 2 KB."""
KNOWN_SENDER_BYTES = 1024 * 1024
"""Bytes of any other body except files and lists of texts; 10,000 file ids have 400 KB."""
# Bytes that count as progress of a body. One byte a minute is an attack, not a slow connection.
_PROGRESS = 1024


class BodyGuard:
    """ASGI middleware: answers 413 for a body that is larger than allowed, and 408 for one that makes no progress.

    A body may have 64 KiB until its sender is authenticated (`sender_is_known`), then max_bytes, or more if the endpoint allows it
    (`allow_body`). A body that declares too large a size is refused before it is read.

    seconds: the time in which a body must deliver 1,024 more bytes or end, not counting time in which nobody reads it
    """

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request; if its body was refused, with the reason instead of the application's response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(scope, receive, send, self._max_bytes, self._seconds)
        scope[_KEY] = body
        try:
            await self._app(scope, body.receive, body.send)
        except ClientDisconnect:
            if body.refusal is None:
                raise
        await body.answer_refusal()


def sender_is_known(request: Request, *, sends_many: bool = False) -> None:
    """Allow this request the usual size of JSON bodies or, with `sends_many`, the configured size for lists of texts."""
    body: _Body | None = request.scope.get(_KEY)
    if body is not None:
        body.max_bytes = body.most if sends_many else min(KNOWN_SENDER_BYTES, body.most)


def allow_body(request: Request, max_bytes: int) -> None:
    """Allow this request a body of up to `max_bytes`. Raises `TooLarge` if it declares more."""
    body: _Body | None = request.scope.get(_KEY)
    if body is None:
        return
    body.max_bytes = max_bytes
    if body.announced > max_bytes:
        raise _too_large(max_bytes)


class _Body:
    """The body of one request, read within its limits."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int, seconds: float) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._seconds = self._left = seconds
        self._received = self._since_progress = 0
        self._ended = self._started = self._answered = False
        self.most = max_bytes
        self.max_bytes = min(UNKNOWN_SENDER_BYTES, max_bytes)
        self.announced = announced_bytes(scope)
        self.refusal: CitewellError | None = None

    async def receive(self) -> Message:
        """The next piece; a disconnect once the body is refused."""
        if self._ended:
            return await self._receive()
        if self.refusal is None and self.announced > self.max_bytes:
            self.refusal = _too_large(self.max_bytes)
        if self.refusal is not None:
            return {"type": "http.disconnect"}
        asked = time.monotonic()
        try:
            async with asyncio.timeout(self._left):
                message = await self._receive()
        except TimeoutError:
            self.refusal = RequestTimeout()
            return {"type": "http.disconnect"}
        self._left -= time.monotonic() - asked
        return self._counted(message)

    def _counted(self, message: Message) -> Message:
        size = len(message.get("body", b""))
        self._received += size
        self._since_progress += size
        if self._since_progress >= _PROGRESS:
            self._left, self._since_progress = self._seconds, 0
        self._ended = not message.get("more_body", False)
        if self._received > self.max_bytes:
            self.refusal = _too_large(self.max_bytes)
            return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        """Pass the response on, unless the body was refused first."""
        if self.refusal is None or self._started:
            self._started = True
            await self._send(message)
        else:
            await self.answer_refusal()

    async def answer_refusal(self) -> None:
        """Send the refusal once. After a 408 nothing more is read; an oversized body is read and discarded."""
        if self.refusal is None or self._started or self._answered:
            return
        self._answered = True
        headers = {"Connection": "close"} if isinstance(self.refusal, RequestTimeout) else None
        await error_response(self.refusal, headers)(self._scope, self._receive, self._send)


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The body of this request is larger than the limit of {max_bytes:,} bytes.")


def announced_bytes(scope: Scope) -> int:
    """The body size that a request declares; 0 if it declares none."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
