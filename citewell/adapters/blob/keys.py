"""Keys of blobs, as every store takes them."""

from __future__ import annotations

import re

from citewell.errors import InvalidInput, NotFound

_KEY = re.compile(r"[a-z0-9_-][a-z0-9_.-]*(/[a-z0-9_-][a-z0-9_.-]*)*")


def is_key(key: str) -> bool:
    """Whether blobs have such keys: none that could leave its folder or means something to a store."""
    return _KEY.fullmatch(key) is not None


def checked_key(key: str) -> str:
    """The key itself; `InvalidInput` for anything that is not one."""
    if not is_key(key):
        raise InvalidInput(f"Not a blob key: {key!r}")
    return key


def missing_blob(key: str) -> NotFound:
    """The error of a key that nothing is stored under."""
    return NotFound(f"No blob is stored under {key}. Upload its file again.")
