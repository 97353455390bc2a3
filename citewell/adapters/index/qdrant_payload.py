"""Payloads of points in a Qdrant server: filter fields under `citewell`, and optional plain fields for other programs.

The plain fields let a program that knows nothing of Citewell, such as a search over a messenger's files, find the
passage and its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from citewell.adapters.index.qdrant_filters import OURS
from citewell.types import Category, Chunk, FileFacts, JsonObject, JsonValue, Point

CLAUDE_FILE_ID = "claude_file_id"
"""Metadata key and payload field of a file's id at Anthropic."""


def payload_of(point: Point, readable: bool) -> dict[str, JsonValue]:
    """The payload of a point. readable: include the fields for other programs, if the point has its origin."""
    payload: dict[str, JsonValue] = {OURS: dict(point.payload)}
    if readable and point.origin is not None:
        chunk, file = point.origin
        payload |= chunk_fields(chunk) | file_fields(file)
    return payload


def chunk_fields(chunk: Chunk) -> dict[str, JsonValue]:
    """The plain fields of the passage."""
    return {
        "user_id": chunk.owner_id,
        "file_id": chunk.resource_id,
        "chunk_index": chunk.ordinal,
        "chunk_text": chunk.text,
    }


def file_fields(file: FileFacts) -> dict[str, JsonValue]:
    """The plain fields of the file, equal in all its points and updated with it."""
    return {
        "filename": file.filename,
        "file_type": _file_type(file),
        "thread_id": file.thread,
        CLAUDE_FILE_ID: _text(file.metadata, CLAUDE_FILE_ID),
        "uploaded_at": None
        if file.uploaded_at is None
        else datetime.fromtimestamp(file.uploaded_at, UTC).isoformat().replace("+00:00", "Z"),
    }


def _file_type(file: FileFacts) -> str:
    if file.type == "pdf":
        return "pdf"
    return "image" if file.category == Category.IMAGE else "document"


def _text(values: Mapping[str, object] | JsonObject, key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) else None
