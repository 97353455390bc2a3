"""File names that documents give to the files inside them."""

from __future__ import annotations

_MAX_NAME = 255


def safe_name(name: str) -> str:
    """A file name without folders and control characters, at most 255 characters; may be empty."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable()).strip(" .")[-_MAX_NAME:]
