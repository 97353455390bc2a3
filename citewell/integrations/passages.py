"""A hit's metadata for the documents and nodes of other frameworks."""

from __future__ import annotations

from typing import Any

from citewell.types import Hit


def metadata_of(hit: Hit) -> dict[str, Any]:
    """A passage's source, for citing it: file, place and scores, with the file's metadata under `metadata`. JSON values only."""
    chunk = hit.chunk
    found: dict[str, Any] = {
        "chunk_id": chunk.id,
        "resource_id": chunk.resource_id,
        "version": chunk.version,
        "filename": hit.filename,
        "type": chunk.type.value,
        "locator": chunk.locator.to_json(),
        "score": hit.score,
        **hit.provenance.to_json(),
        "image": None if hit.picture is None else dict(hit.picture.to_json()),
    }
    return {key: value for key, value in found.items() if value is not None and value != {}}
