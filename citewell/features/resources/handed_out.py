"""What the service of resources hands out besides resources: stored bytes, and receipts of deletions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from citewell.storage.files.resources import Receipt


@dataclass(frozen=True, slots=True)
class Deleted:
    """A receipt, and how many vectors were still found afterwards."""

    receipt: Receipt
    vectors_left: int


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Bytes that are kept, to be sent as a file. read: (start, end) → the pieces of that part. content_hash: SHA-256, where known."""

    filename: str
    mime_type: str
    size: int
    read: Callable[[int, int], AsyncIterator[bytes]]
    content_hash: str | None = None
