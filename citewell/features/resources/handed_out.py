"""Results of the resource service besides resources: stored bytes, and receipts of deletions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from citewell.storage.files.resources import Receipt


@dataclass(frozen=True, slots=True)
class Deleted:
    """A receipt, and how many vectors were left."""

    receipt: Receipt
    vectors_left: int


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Stored bytes to send as a file. read: (start, end) → pieces of that range; content_hash: SHA-256, if known."""

    filename: str
    mime_type: str
    size: int
    read: Callable[[int, int], AsyncIterator[bytes]]
    content_hash: str | None = None
