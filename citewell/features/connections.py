"""HTTP connections with the bounds that uvicorn leaves out: a head has to come in time, and an answered body has to end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MAX_HEAD_BYTES = 64 * 1024
# How much of a body is still read, and for how long, after its request was answered, so that the client hears the answer:
# a connection closed on unread bytes is reset, and the answer with it.
_MAX_UNWANTED_BYTES = 64 * 1024 * 1024
_UNWANTED_SECONDS = 30.0


class _Reading(Enum):
    NOTHING = auto()
    HEAD = auto()
    BODY = auto()
    UNWANTED = auto()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 with a limit on the time and size of a request's head, and a patient end after early answers.

    uvicorn itself closes kept-alive connections on which no further request begins; how long a body that is being read may
    take is up to `citewell.features.bodies`.
    """

    header_seconds: ClassVar[float] = 20.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See `asyncio.Protocol`."""
        self._timer: asyncio.TimerHandle | None = None
        self._reading = _Reading.NOTHING
        self._bytes = 0
        self._closing = False
        super().connection_made(cast(asyncio.Transport, transport))
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._reading is _Reading.NOTHING:
            self._expect_head()
        before = self._reading
        super().data_received(data)
        if self._reading is not before:
            return
        self._bytes += len(data)
        if self._reading is _Reading.HEAD and self._bytes > _MAX_HEAD_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")
        elif self._reading is _Reading.UNWANTED and self._bytes > _MAX_UNWANTED_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins, perhaps in the middle of what was received."""
        super().on_message_begin()
        if self._reading is _Reading.NOTHING:
            self._expect_head()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._stop_timer()
        self._reading = _Reading.BODY
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self.cycle.transport = cast(asyncio.Transport, _Transport(self))

    def on_message_complete(self) -> None:
        """The body has ended."""
        unwanted = self._reading is _Reading.UNWANTED
        self._reading = _Reading.NOTHING
        super().on_message_complete()
        if not unwanted:
            return
        self._stop_timer()
        if self._closing:
            self.transport.close()
        else:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_response_complete(self) -> None:
        """The request is answered, maybe before its body was read."""
        super().on_response_complete()
        if self._reading is _Reading.BODY and not self.transport.is_closing():
            self._drop_rest()
        elif self._reading is _Reading.HEAD and not self.pipeline:
            self._unset_keepalive_if_required()
            self._start_timer(self.header_seconds, self._head_is_late)

    def close(self) -> None:
        """Close, but not on bytes of the request that are still under way."""
        if self._reading not in (_Reading.BODY, _Reading.UNWANTED) or self.transport.is_closing():
            self.transport.close()
            return
        self._closing = True
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self._reading is _Reading.BODY:
            self._drop_rest()

    @property
    def closing(self) -> bool:
        """Whether nothing more is sent."""
        return self._closing or self.transport.is_closing()

    def _drop_rest(self) -> None:
        self._unset_keepalive_if_required()
        self._reading = _Reading.UNWANTED
        self._bytes = 0
        self._start_timer(_UNWANTED_SECONDS, self.transport.close)

    def _expect_head(self) -> None:
        self._reading = _Reading.HEAD
        self._bytes = 0
        self._start_timer(self.header_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self._start_timer(self.header_seconds, self._head_is_late)
        elif self._bytes:
            self._refuse(b"408 Request Timeout")
        else:
            self.transport.close()

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def _start_timer(self, seconds: float, then: Callable[[], object]) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Transport:
    """The transport as the answer sees it: closing it waits for the rest of the request."""

    def __init__(self, protocol: BoundedProtocol) -> None:
        self._protocol = protocol

    def write(self, data: bytes) -> None:
        if not self._protocol.closing:
            self._protocol.transport.write(data)

    def close(self) -> None:
        self._protocol.close()

    def is_closing(self) -> bool:
        return self._protocol.closing


def bounded_protocol(header_seconds: float) -> type[BoundedProtocol]:
    """The protocol class with this much time for the head of a request."""
    attributes: dict[str, Any] = {"header_seconds": header_seconds}
    return type("BoundedProtocol", (BoundedProtocol,), attributes)
