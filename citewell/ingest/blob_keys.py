"""Under which keys an owner's bytes are kept: `{owner}/{resource}/{version}/…`. Rows hold the keys; nothing takes one apart.

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


def prefixes_of(owner_id: str) -> tuple[str, ...]:
    """What every key of an owner begins with, of today and of before. An owner's id is a UUID, as a resource's is."""
    return f"{owner_id}/", *(f"{kind}/{owner_id}/" for kind in _KINDS_BEFORE)


def _unique() -> str:
    return uuid.uuid4().hex[:12]
