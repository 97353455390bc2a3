"""Opaque cursors for lists: the sort key of the last row given out."""

from __future__ import annotations

import base64
import binascii
import json

from citewell.errors import InvalidCursor


def encode_cursor(*key: str | int | float) -> str:
    """A cursor that `decode_cursor` turns back into `key`."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *types: type) -> tuple[str | int | float, ...]:
    """The key in `cursor`, checked to hold values of `types`; raises `InvalidCursor`."""
    try:
        key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError) as error:
        raise InvalidCursor from error
    if not isinstance(key, list) or len(key) != len(types):
        raise InvalidCursor
    for value, expected in zip(key, types, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float) if expected is float else expected):
            raise InvalidCursor
    return tuple(key)
