"""The keys of an owner's blobs: `{owner}/{resource}/{version}/…`. Rows hold the keys; only the recovery of files that no row names
parses them.

Every key is unique, so concurrent uploads, or a worker that lost its lease, overwrite nothing.
"""

from __future__ import annotations

import uuid

# The prefix of keys from earlier versions; those objects stay where they are.
_KINDS_BEFORE = ("originals", "extracted")


def original_key(owner_id: str, resource_id: str, version: int) -> str:
    """A new key for the uploaded bytes of a version."""
    return f"{owner_id}/{resource_id}/{version}/original-{_unique()}"


def extracted_key(owner_id: str, resource_id: str, version: int, index: int) -> str:
    """A new key for a picture, a table's copy or another file that extraction produced from a version, by its number."""
    return f"{owner_id}/{resource_id}/{version}/extracted-{index}-{_unique()}"


def prefixes_of(owner_id: str, resource_id: str | None = None) -> tuple[str, ...]:
    """The current and earlier prefixes of all keys of an owner, or of one resource. The ids are UUIDs."""
    below = "" if resource_id is None else f"{resource_id}/"
    return f"{owner_id}/{below}", *(f"{kind}/{owner_id}/{below}" for kind in _KINDS_BEFORE)


def original_of(key: str) -> tuple[str, str] | None:
    """The owner of an uploaded file, and a name for it; None for any other key."""
    match key.split("/"):
        case [owner_id, resource_id, version, name] if name.startswith("original-"):
            return owner_id, f"{resource_id[:8]} version {version}"
        case ["originals", owner_id, name]:
            return owner_id, name[:8]
        case _:
            return None


def _unique() -> str:
    return uuid.uuid4().hex[:12]
