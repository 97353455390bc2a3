"""Under which keys an owner's bytes are kept: `{owner}/{resource}/{version}/…`. Rows hold the keys; nothing takes
one apart but the recovery of files that no row names.

No key is given out twice, so that uploads at the same time, and a worker that has lost its file to another one, overwrite nothing.
"""

from __future__ import annotations

import uuid

# What keys began with before; those objects stay where they are.
_KINDS_BEFORE = ("originals", "extracted")


def original_key(owner_id: str, resource_id: str, version: int) -> str:
    """A new key for the bytes of a version as they were uploaded."""
    return f"{owner_id}/{resource_id}/{version}/original-{_unique()}"


def extracted_key(owner_id: str, resource_id: str, version: int, index: int) -> str:
    """A new key for a picture, a table's copy or another file that extraction made of a version, by its place among them."""
    return f"{owner_id}/{resource_id}/{version}/extracted-{index}-{_unique()}"


def prefixes_of(owner_id: str, resource_id: str | None = None) -> tuple[str, ...]:
    """What every key of an owner, or of one resource, begins with, of today and of before. The ids are UUIDs."""
    below = "" if resource_id is None else f"{resource_id}/"
    return f"{owner_id}/{below}", *(f"{kind}/{owner_id}/{below}" for kind in _KINDS_BEFORE)


def original_of(key: str) -> tuple[str, str] | None:
    """The owner of an uploaded file, and a name for it; None for the key of anything else."""
    match key.split("/"):
        case [owner_id, resource_id, version, name] if name.startswith("original-"):
            return owner_id, f"{resource_id[:8]} version {version}"
        case ["originals", owner_id, name]:
            return owner_id, name[:8]
        case _:
            return None


def _unique() -> str:
    return uuid.uuid4().hex[:12]
