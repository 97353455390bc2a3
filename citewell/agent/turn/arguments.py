"""Reads the arguments of a tool call. What is wrong with one is an `InvalidInput` whose message a model can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from citewell.errors import CitewellError, InvalidInput, cut
from citewell.text.spelling import suggestion
from citewell.types import JsonObject, JsonValue

MAX_ALLOWED = 40


def check_arguments(what: str, schema: JsonObject, arguments: JsonValue) -> None:
    """Raise `InvalidInput` for an argument that the tool does not have, at any depth: it would be ignored without a word."""
    known, items = schema.get("properties"), schema.get("items")
    if isinstance(known, Mapping) and isinstance(arguments, Mapping):
        for name, value in arguments.items():
            inner = known.get(name)
            if inner is None:
                raise InvalidInput(f"{what} has no argument `{cut(name)}`. {suggestion(name, known)}")
            if isinstance(inner, Mapping):
                check_arguments(f"`{name}`", inner, value)
    elif isinstance(items, Mapping) and isinstance(arguments, list | tuple):
        for value in arguments:
            check_arguments(what, items, value)


def understood(schema: JsonObject, arguments: JsonObject) -> JsonObject:
    """The arguments of a model's call as they were meant: unknown and empty ones left out, numbers and lists taken out of texts.

    The one text that must be given is taken from the one that was, whatever its name.
    """
    known = cast(Mapping[str, JsonObject], schema.get("properties") or {})
    meant = {name: _as_declared(known[name], value) for name, value in arguments.items() if name in known}
    meant = {name: value for name, value in meant.items() if not _is_empty(value)}
    required = [name for name in cast(Sequence[str], schema.get("required") or ()) if name not in meant]
    others = [value for name, value in arguments.items() if name not in known and isinstance(value, str) and value]
    if len(required) == 1 and len(others) == 1 and "_malformed" not in arguments:
        meant[required[0]] = others[0]
    return meant


def _as_declared(schema: JsonObject, value: JsonValue) -> JsonValue:
    """The value in its declared type, where a text says it; lists without their empty parts."""
    kind = schema.get("type")
    if isinstance(value, str) and kind in ("integer", "number", "boolean", "array", "object"):
        with suppress(ValueError, RecursionError):
            read: JsonValue = json.loads(value)
            return read
        return [value] if kind == "array" and value else value
    if isinstance(value, list | tuple):
        return [one for one in value if not _is_empty(one)]
    return value


def _is_empty(value: JsonValue) -> bool:
    return value is None or value == "" or (isinstance(value, list | tuple | Mapping) and not value)


def allowed_instead(error: CitewellError) -> str:
    """What an error says is allowed instead, such as the metadata keys that there are."""
    allowed = error.details.get("allowed")
    if not isinstance(allowed, list) or not allowed:
        return ""
    shown = ", ".join(cut(str(one)) for one in allowed[:MAX_ALLOWED])
    return f" Allowed: {shown}{', …' if len(allowed) > MAX_ALLOWED else '.'}"


def text_argument(arguments: JsonObject, name: str) -> str:
    """A text that must be given, without white space around it."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"`{name}` must be a text.")
    return value.strip()


def texts_argument(arguments: JsonObject, name: str) -> tuple[str, ...] | None:
    """A list of texts; None where it is not given or empty."""
    value = arguments.get(name)
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise InvalidInput(f"`{name}` must be a list of texts.")
    return tuple(str(v) for v in value) or None


def integer_argument(arguments: JsonObject, name: str, default: int, low: int, high: int) -> int:
    """A whole number, brought within low and high; `default` where it is not given."""
    value = arguments.get(name, default)
    if value is None:
        return default
    is_whole = value.is_integer() if isinstance(value, float) else isinstance(value, int)  # JSON's 1e999 is infinite
    if isinstance(value, bool) or not isinstance(value, int | float) or not is_whole:
        raise InvalidInput(f"`{name}` must be a whole number.")
    return min(max(int(value), low), high)
