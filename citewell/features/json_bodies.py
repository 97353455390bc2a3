"""JSON in and out of HTTP: what a request holds can be stored and said again, and what is answered is JSON whatever a file held."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from citewell.features.head_requests import without_body
from citewell.types.json import JsonValue, sound, well_formed


class SoundRequest(Request):
    """A request whose JSON body has only texts that UTF-8 can express, finite numbers, and a bounded depth."""

    async def json(self) -> Any:
        """The body; 400 for what cannot be read. JSON with a mistake in its grammar is left to FastAPI, which says where."""
        body = await self.body()
        try:
            return sound(cast(JsonValue, json.loads(body)))
        except json.JSONDecodeError:
            raise
        except UnicodeDecodeError as error:
            raise HTTPException(400, "The body is not UTF-8.") from error
        except RecursionError as error:
            raise HTTPException(400, "The body is nested too deeply.") from error
        except ValueError as error:
            raise HTTPException(400, f"The body cannot be read. {_reason(error)}") from error


class SoundRoute(APIRoute):
    """A route that reads its body as `SoundRequest` does, and makes none for HEAD."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The handler, given such a request."""
        handler = super().get_route_handler()

        async def reading(request: Request) -> Response:
            return without_body(request, await handler(SoundRequest(request.scope, request.receive)))

        return reading


def loaded(text: str) -> JsonValue:
    """JSON in a text, such as a field of a form; `ValueError` for what cannot be read."""
    try:
        return sound(cast(JsonValue, json.loads(text)))
    except RecursionError as error:
        raise ValueError("It is nested too deeply.") from error


def dumped(value: object) -> bytes:
    """`value` as JSON; numbers that are not finite become null, halves of surrogate pairs U+FFFD, and integers may have any length."""
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
    """Python says of a number with too many digits how its limit is set, which is nothing to a client."""
    return "It holds a number with too many digits." if "integer string" in str(error) else str(error)
