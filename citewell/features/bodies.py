"""Bodies of requests: bounded in size, and in how long they may keep a request waiting. Plain ASGI, as `health.observer`."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.errors import CitewellError, RequestTimeout, TooLarge
from citewell.features.http import error_response

_KEY = "citewell.body"
UNKNOWN_SENDER_BYTES = 64 * 1024
"""Of a body whose sender has not shown a credential: the longest that is sent so, a sign-up, takes 2 KB."""
KNOWN_SENDER_BYTES = 1024 * 1024
"""Of any other body but files and lists of texts: 10,000 ids of files take 400 KB."""
# A body has made progress when it brought this much more, in bytes. One byte a minute is an attack, not a poor line.
_PROGRESS = 1024


class BodyGuard:
    """ASGI middleware: answers 413 for a body that is larger than allowed, and 408 for one that makes no progress.

    A body may have 64 KiB until its sender is known (`sender_is_known`), and max_bytes at most unless the endpoint allows more (`allow_body`).
    One that announces its size is refused before it is read. seconds is the time in which a body must bring 1,024 bytes more or end; time
    in which nobody reads it does not count.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; when the body was refused, with the reason instead of what the application makes of it."""
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
    """Let the body of this request be as large as JSON may be; sends_many: a list of texts, which may have as much as is configured."""
    body: _Body | None = request.scope.get(_KEY)
    if body is not None:
        body.max_bytes = body.most if sends_many else min(KNOWN_SENDER_BYTES, body.most)


def allow_body(request: Request, max_bytes: int) -> None:
    """Let the body of this request have up to `max_bytes`; raises `TooLarge` when it announces more."""
    body: _Body | None = request.scope.get(_KEY)
    if body is None:
        return
    body.max_bytes = max_bytes
    if body.announced > max_bytes:
        raise _too_large(max_bytes)


class _Body:
    """The body of one request, read through its bounds."""

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
        """Pass the response on, unless the body was refused before it began."""
        if self.refusal is None or self._started:
            self._started = True
            await self._send(message)
        else:
            await self.answer_refusal()

    async def answer_refusal(self) -> None:
        """Say why the body was refused, once. After a 408 nothing more is expected; a body too large is read on and dropped."""
        if self.refusal is None or self._started or self._answered:
            return
        self._answered = True
        headers = {"Connection": "close"} if isinstance(self.refusal, RequestTimeout) else None
        await error_response(self.refusal, headers)(self._scope, self._receive, self._send)


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The body of this request is larger than the limit of {max_bytes:,} bytes.")


def announced_bytes(scope: Scope) -> int:
    """The size of the body that a request announces; 0 where it does not."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
