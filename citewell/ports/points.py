"""Builds the point of a chunk, for every vector store: its vectors and the payload that filters use."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TypeVar

import numpy as np

from citewell.ports import FloatMatrix
from citewell.text.sparse import sparse_document
from citewell.types import (
    Category,
    Chunk,
    ChunkType,
    FileFacts,
    JsonValue,
    Locator,
    MetadataKind,
    MetadataValue,
    Point,
    table_words,
)
from citewell.types.metadata_values import kind_of, seconds_of

T = TypeVar("T")


class FieldKind(StrEnum):
    """The type of a payload field, which determines the operators and values of conditions on it. A date is seconds since 1970 UTC."""

    KEYWORD = "keyword"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"


OWNER = "owner_id"
RESOURCE = "resource_id"
TYPE = "type"
# Of the chunk.
_CHUNK_FIELDS: dict[str, FieldKind] = {
    OWNER: FieldKind.KEYWORD,
    RESOURCE: FieldKind.KEYWORD,
    TYPE: FieldKind.KEYWORD,
    "sheet": FieldKind.KEYWORD,
    "page": FieldKind.INTEGER,
    "slide": FieldKind.INTEGER,
    "row": FieldKind.INTEGER,
}
# Of its file: the same in every point of the file, and rewritten together.
FILE_FIELDS: dict[str, FieldKind] = {
    "filename": FieldKind.KEYWORD,
    "extension": FieldKind.KEYWORD,
    "language": FieldKind.KEYWORD,
    "file_type": FieldKind.KEYWORD,
    "category": FieldKind.KEYWORD,
    "identifier": FieldKind.KEYWORD,
    "thread": FieldKind.KEYWORD,
    "project": FieldKind.KEYWORD,
    "tag": FieldKind.KEYWORD,
    "date": FieldKind.DATE,
    "uploaded_at": FieldKind.DATE,
}
PAYLOAD_FIELDS: dict[str, FieldKind] = _CHUNK_FIELDS | FILE_FIELDS
# Metadata is one object, so that it is replaced as a whole. The fields in it are named by `metadata_field`.
METADATA = "metadata"
METADATA_KINDS: dict[MetadataKind, FieldKind] = {
    MetadataKind.TEXT: FieldKind.KEYWORD,
    MetadataKind.BOOLEAN: FieldKind.KEYWORD,
    MetadataKind.NUMBER: FieldKind.NUMBER,
    MetadataKind.DATE: FieldKind.DATE,
}
_METADATA_FIELD = re.compile(rf"{METADATA}\.(text|number|boolean|date)_[0-9a-f]{{24}}")
_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")
_DATE_KEY = "date"
STATED_DATES = ("date", "modified", "created")
STATED_TAGS = ("tags", "keywords")
_MAX_TAGS = 32
_MAX_ROWS = 1_000


def index_point(chunk: Chunk, dense: Sequence[float] | None, file: FileFacts, text: str | None = None) -> Point:
    """The point of a chunk of `file`. Its language (ISO 639-1) is detected from the chunk if the file has none.

    text: replaces `dense` in stores that embed texts themselves
    """
    return Point(
        id=chunk.id,
        text=text,
        dense=tuple(dense) if dense is not None else None,
        sparse=sparse_document(
            chunk.text,
            chunk.context,
            file.language,
            table_words(chunk.text) if chunk.type is ChunkType.TABLE else None,
        ),
        payload=_chunk_payload(chunk)
        | {key: value for key, value in file_payload(file).items() if value not in (None, [], {})},
        origin=(chunk, file),
    )


def file_payload(file: FileFacts) -> dict[str, JsonValue]:
    """The file's fields in each of its points: all of `FILE_FIELDS` and `METADATA`, empty if the file has no value."""
    extension = PurePosixPath(file.filename).suffix.lstrip(".")
    return {
        "filename": keyword(file.filename),
        "extension": keyword(extension) or None,
        "language": file.language,
        "file_type": keyword(file.type) or None,
        "category": list(categories(file)),
        "identifier": keyword(file.identifier) if file.identifier else None,
        "thread": keyword(file.thread) if file.thread else None,
        "project": [keyword(project) for project in file.projects],
        "tag": list(tags(file)),
        "date": file_date(file),
        "uploaded_at": file.uploaded_at,
        METADATA: {metadata_field(key, kind_of(value)): _stored(value) for key, value in file.metadata.items()},
    }


def metadata_field(key: str, kind: MetadataKind) -> str:
    """The name, within `METADATA`, of the field for values of one kind under a key. Every key gives a safe name."""
    return f"{kind.value}_{hashlib.sha256(key.encode()).hexdigest()[:24]}"


def metadata_path(key: str, kind: MetadataKind) -> str:
    """The payload path of that field, for use in conditions."""
    return f"{METADATA}.{metadata_field(key, kind)}"


def field_kind(field: str) -> FieldKind | None:
    """The kind of a payload field; None for an unknown field."""
    known = PAYLOAD_FIELDS.get(field)
    if known is None and (match := _METADATA_FIELD.fullmatch(field)):
        return METADATA_KINDS[MetadataKind(match[1])]
    return known


def categories(file: FileFacts) -> tuple[str, ...]:
    """The categories under which filters find a file: its own, `document` for anything read as text, and `pdf`."""
    names = [file.category, "document" if file.category == Category.RAG else "", "pdf" if file.type == "pdf" else ""]
    return tuple(name for name in names if name)


def tags(file: FileFacts) -> tuple[str, ...]:
    """A file's tags: those in its metadata, then the keywords stated in the file."""
    found = [tag for said in (file.metadata, file.stated) for key in STATED_TAGS for tag in _tags(said.get(key))]
    return tuple(dict.fromkeys(found))[:_MAX_TAGS]


def in_parts(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Items in batches of at most `size`, the most a store accepts in one call."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def pulled(
    query: Sequence[float], pulls: Sequence[tuple[str, float]], vectors: Mapping[str, FloatMatrix]
) -> FloatMatrix:
    """`query` moved as `VectorQuery.pulls` describes, shape (dimensions,); unchanged if the sum would vanish."""
    start = np.asarray(query, dtype=np.float32)
    known = [(vectors[key], weight) for key, weight in pulls if key in vectors]
    if not known:
        return start
    moved = start + np.array([weight for _, weight in known], dtype=np.float32) @ np.stack([v for v, _ in known])
    length = float(np.linalg.norm(moved))
    return (moved / length).astype(np.float32) if length > 0.0 else start


def keyword(value: str) -> str:
    """The case-insensitive form in which keyword fields are stored and queried."""
    return value.strip().casefold()


def file_date(file: FileFacts) -> float | None:
    """A file's date, in seconds since 1970: the metadata's `date`, else its first date, else the date stated in the file."""
    dated = {key: value for key, value in file.metadata.items() if kind_of(value) is MetadataKind.DATE}
    chosen = dated.get(_DATE_KEY) or next(iter(dated.values()), None)
    if isinstance(chosen, str):
        return seconds_of(chosen)
    return next((at for key in STATED_DATES if (at := _stated_date(file.stated.get(key))) is not None), None)


def _stated_date(value: JsonValue) -> float | None:
    """A date stated in a file; any text may follow it."""
    if not isinstance(value, str):
        return None
    whole = seconds_of(value.strip())
    match = _DAY.match(value.strip())
    return whole if whole is not None or match is None else seconds_of(f"{match[1]}-{match[2]}-{match[3]}")


def _stored(value: MetadataValue) -> JsonValue:
    """A metadata value in its payload form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return [keyword(text) for text in value]
    if isinstance(value, str):
        at = seconds_of(value)
        return keyword(value) if at is None else at
    return float(value)


def _tags(value: JsonValue) -> list[str]:
    parts = re.split(r"[,;]", value) if isinstance(value, str) else value if isinstance(value, Sequence) else ()
    return [tag for part in parts if isinstance(part, str) and 0 < len(tag := keyword(part)) <= 128]


def _rows(place: Locator) -> int | list[int] | None:
    """The chunk's row, or all rows of a table stored as one chunk, so that a filter on any of them matches."""
    if place.row is None or place.row_end is None or not place.row < place.row_end < place.row + _MAX_ROWS:
        return place.row
    return list(range(place.row, place.row_end + 1))


def _chunk_payload(chunk: Chunk) -> dict[str, JsonValue]:
    place = chunk.locator
    payload: dict[str, JsonValue] = {OWNER: chunk.owner_id, RESOURCE: chunk.resource_id, TYPE: chunk.type.value}
    pages = place.pages or ((place.page,) if place.page is not None else ())
    optional: dict[str, JsonValue] = {
        "sheet": keyword(place.sheet) if place.sheet is not None else None,
        "page": list(pages) or None,
        "slide": place.slide,
        "row": _rows(place),
    }
    return payload | {key: value for key, value in optional.items() if value is not None}
