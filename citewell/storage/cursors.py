"""Opaque pagination cursors, which encode the sort key of the last row returned."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import cast

from citewell.errors import InvalidCursor

_MAX_INTEGER = 2**31 - 1
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def encode_cursor(*key: str | int | float) -> str:
    """Encodes `key` as a cursor; `decode_cursor` reverses it."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *types: type) -> tuple[str | int | float, ...]:
    """Returns the key in `cursor`. Raises `InvalidCursor` unless its values are of `types`."""
    try:
        key: object = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, RecursionError, ValueError) as error:
        raise InvalidCursor from error
    if not isinstance(key, list) or len(cast(list[object], key)) != len(types):
        raise InvalidCursor
    values = cast(list[str | int | float], key)
    for value, expected in zip(values, types, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float) if expected is float else expected):
            raise InvalidCursor
        if not _is_storable(value):
            raise InvalidCursor
    return tuple(values)


def _is_storable(value: str | int | float) -> bool:
    """Whether SQL can compare a column with it: no NUL, lone surrogate, infinity or integer over 32 bits."""
    if isinstance(value, str):
        return not _UNSTORABLE.search(value)
    if isinstance(value, int):
        return -_MAX_INTEGER <= value <= _MAX_INTEGER
    return math.isfinite(value)
