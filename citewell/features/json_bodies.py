"""JSON in requests and responses: everything accepted can be stored and returned, and responses are valid JSON whatever files contain."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from citewell.features.bodies import sender_is_known
from citewell.features.declared import Reach
from citewell.features.head_requests import without_body
from citewell.features.http import access_of, authenticate
from citewell.types.json import JsonValue, sound, well_formed

_IN_A_THREAD = 256 * 1024
"""Bodies larger than this are parsed in a thread; a smaller one blocks the event loop for at most five milliseconds."""
_MAX_VALUES, _MAX_VALUES_OF_MANY = 100_000, 500_000
"""Values in a body, counting nested ones and names: one file's metadata has at most 66,000, and 10,000 records with 20 keys each have 480,000.
Parsing blocks all of Python's threads for about 100 ns per value."""
MANY = frozenset({"/records", "/webhooks/incoming/{trigger_id}/fetch", "/v1/chat/completions", "/v1/responses"})
"""Routes that accept lists of texts, up to `CITEWELL_MAX_BODY_BYTES`."""


class SoundRequest(Request):
    """A request whose JSON body has only texts that UTF-8 can encode, finite numbers, and a bounded depth and number of values."""

    async def json(self) -> Any:
        """The body; 400 if it cannot be read. JSON syntax errors are left to FastAPI, which reports their position."""
        body = await self.body()
        most = _MAX_VALUES_OF_MANY if _sends_many(self) else _MAX_VALUES
        return _read(body, most) if len(body) < _IN_A_THREAD else await asyncio.to_thread(_read, body, most)


class SoundRoute(APIRoute):
    """A route that authenticates the caller before reading the body as a `SoundRequest`, and sends no body for HEAD."""

    async def admit(self, request: Request) -> bool:
        """Whether the caller is authenticated. Raises like `authenticate`, except for public routes."""
        if access_of(request).reach is Reach.PUBLIC:
            return False
        await authenticate(request)
        return True

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The handler, called with such a request."""
        handler = super().get_route_handler()

        async def reading(request: Request) -> Response:
            if await self.admit(request):
                sender_is_known(request, sends_many=_sends_many(request))
            return without_body(request, await handler(SoundRequest(request.scope, request.receive)))

        return reading


def _sends_many(request: Request) -> bool:
    return request.scope["route"].path in MANY


def _read(body: bytes, most: int) -> JsonValue:
    try:
        check_values(body, most)
        return sound(cast(JsonValue, json.loads(body.decode("utf-8-sig", "surrogatepass"))))
    except json.JSONDecodeError:
        raise
    except UnicodeDecodeError as error:
        raise HTTPException(400, "The body is not UTF-8.") from error
    except RecursionError as error:
        raise HTTPException(400, "The body is nested too deeply.") from error
    except ValueError as error:
        raise HTTPException(400, f"The body cannot be read. {_reason(error)}") from error


def check_values(body: bytes, most: int) -> None:
    """Raise `ValueError` for JSON with more than `most` values, before parsing it. Linear in the length of the body."""
    if _begun(body, 0, len(body)) <= most:  # including those inside texts
        return
    begun = at = 0
    while at < len(body) and begun <= most:
        text = body.find(b'"', at)
        begun += _begun(body, at, text if text >= 0 else len(body))
        at = _end_of_text(body, text + 1) if text >= 0 else len(body)
    if begun > most:
        raise ValueError(f"It holds more than {most:,} values. Send fewer at once.")


def _begun(body: bytes, start: int, end: int) -> int:
    """The characters before each value except the first, and before each name in an object."""
    return sum(body.count(sign, start, end) for sign in b"[{,:")


def _end_of_text(body: bytes, at: int) -> int:
    """The end of a text whose content starts at `start`: after the first unescaped quote."""
    while (quote := body.find(b'"', at)) >= 0:
        escapes = quote
        while body[escapes - 1] == ord("\\"):
            escapes -= 1
        if (quote - escapes) % 2 == 0:
            return quote + 1
        at = quote + 1
    return len(body)


def loaded(text: str) -> JsonValue:
    """JSON in a text, such as a form field. Raises `ValueError` if it cannot be read."""
    try:
        return sound(cast(JsonValue, json.loads(text)))
    except RecursionError as error:
        raise ValueError("It is nested too deeply.") from error


def dumped(value: object) -> bytes:
    """`value` as JSON: non-finite numbers become null, lone surrogates U+FFFD, and integers may have any length."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _plain(value: object) -> object:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        items = cast(Mapping[object, object], value).items()
        return {well_formed(str(key)): _plain(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast(list[object], value)]
    return value


def _reason(error: ValueError) -> str:
    """The reason, without Python's advice on how to raise its limit of digits, which does not concern a client."""
    return "It holds a number with too many digits." if "integer string" in str(error) else str(error)
