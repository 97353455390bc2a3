"""Request headers: limited before anything parses them, so that slow parsers do no harm. Plain ASGI, like `health.observer`."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.errors import CitewellError, HeadTooLarge, TooManyParameters
from citewell.features.auth.cookies import own_cookies
from citewell.features.http import error_response

MAX_FIELDS = 100
"""Browsers send some 20, and proxies add ten."""
MAX_FIELD_BYTES = 8 * 1024
"""Bytes of one header field, or of all cookies together: the default limit of nginx and Apache. The parsers of `Content-Type` and cookies in
Python's standard library are quadratic; at this length they take a few milliseconds."""
MAX_PARAMETERS = 256
"""`GET /resources` accepts 200 ids and a dozen other parameters."""


class HeadGuard:
    """ASGI middleware: answers 431 for too many or too long header fields and 400 for too many query parameters.

    It keeps only Citewell's cookies, because FastAPI parses all of them for every request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose headers are within the limits."""
        if scope["type"] == "http":
            try:
                scope["headers"] = _bounded(scope)
            except CitewellError as error:
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _bounded(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The header fields, with only Citewell's cookies. Raises `HeadTooLarge` and `TooManyParameters`."""
    fields: list[tuple[bytes, bytes]] = scope["headers"]
    if len(fields) > MAX_FIELDS:
        raise HeadTooLarge(f"The request has more than {MAX_FIELDS} header fields.")
    cookies = [value for name, value in fields if name == b"cookie"]
    for name, size in (
        *((name, len(name) + len(value)) for name, value in fields),
        (b"cookie", sum(map(len, cookies))),
    ):
        if size > MAX_FIELD_BYTES:
            called = name[:40].decode("latin-1")
            raise HeadTooLarge(f"The header field `{called}` is longer than the limit of {MAX_FIELD_BYTES:,} bytes.")
    if scope["query_string"].count(b"&") >= MAX_PARAMETERS:
        raise TooManyParameters(f"The address has more than {MAX_PARAMETERS} query parameters.")
    if not cookies:
        return fields
    return [*(field for field in fields if field[0] != b"cookie"), (b"cookie", own_cookies(cookies))]
