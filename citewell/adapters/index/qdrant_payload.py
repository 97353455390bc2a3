"""What a point in a Qdrant server holds: under `citewell` what filters ask for, and beside it, if that is wanted, fields for other programs.

Those are the fields that a search over a messenger's files reads of its hits: a program that knows nothing of Citewell finds the passage
and its file in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from citewell.adapters.index.qdrant_filters import OURS
from citewell.types import Category, Chunk, FileFacts, JsonObject, JsonValue, Point

CLAUDE_FILE_ID = "claude_file_id"
"""A key of a file's metadata, and the field with its value: the file's id at Anthropic."""


def payload_of(point: Point, readable: bool) -> dict[str, JsonValue]:
    """The payload of a point. readable: with the fields for other programs, where the point says what it was made of."""
    payload: dict[str, JsonValue] = {OURS: dict(point.payload)}
    if readable and point.origin is not None:
        chunk, file = point.origin
        payload |= chunk_fields(chunk) | file_fields(file)
    return payload


def chunk_fields(chunk: Chunk) -> dict[str, JsonValue]:
    """The fields of the passage."""
    return {
        "user_id": chunk.owner_id,
        "file_id": chunk.resource_id,
        "chunk_index": chunk.ordinal,
        "chunk_text": chunk.text,
    }


def file_fields(file: FileFacts) -> dict[str, JsonValue]:
    """The fields of the file, which are the same in all its points and change with it."""
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
