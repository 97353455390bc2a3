"""File names that documents give to their embedded files."""

from __future__ import annotations

_MAX_NAME = 255


def safe_name(name: str) -> str:
    """Returns a file name without folders or control characters, at most 255 characters; may be empty."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable()).strip(" .")[-_MAX_NAME:]
