"""Blob keys that are valid in every store."""

from __future__ import annotations

import re

from citewell.errors import InvalidInput, NotFound

_KEY = re.compile(r"[a-z0-9_-][a-z0-9_.-]*(/[a-z0-9_-][a-z0-9_.-]*)*")


def is_key(key: str) -> bool:
    """Whether a string is a valid blob key: it cannot escape its folder and has no special meaning to any store."""
    return _KEY.fullmatch(key) is not None


def checked_key(key: str) -> str:
    """Return the key. Raises `InvalidInput` if it is invalid."""
    if not is_key(key):
        raise InvalidInput(f"Not a blob key: {key!r}")
    return key


def missing_blob(key: str) -> NotFound:
    """The error for a key that does not exist."""
    return NotFound(f"No blob is stored under {key}. Upload its file again.")
