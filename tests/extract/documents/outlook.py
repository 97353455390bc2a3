"""Messages as Outlook stores them: a tree of streams, each named after its property."""

from __future__ import annotations

import struct

from tests.extract.documents.compound import Tree


def outlook(
    tree: dict[str, bytes | Tree], fixed: dict[int, bytes] | None = None, head: int = 32
) -> dict[str, bytes | Tree]:
    """Property streams by their tag, and the stream of fixed properties."""
    entries = b"".join(struct.pack("<II8s", tag << 16 | 0x40, 6, value) for tag, value in (fixed or {}).items())
    named = {
        (f"__substg1.0_{name}" if len(name) == 8 and not name.startswith("__") else name): content
        for name, content in tree.items()
    }
    return {**named, "__properties_version1.0": b"\0" * head + entries}


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def attachment(name: str, data: bytes) -> dict[str, bytes | Tree]:
    return outlook({"3707001F": wide(name), "37010102": data}, head=8)
