"""A chunk as a vector store holds it: its vectors and the payload that filters may use. Built the same way everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

import numpy as np

from citewell.ports import FloatMatrix
from citewell.text.sparse import sparse_document
from citewell.types import Chunk, ChunkType, JsonObject, JsonValue, Locator, Point, table_words


class FieldKind(StrEnum):
    """The type of a payload field, which determines the operators and values of conditions on it."""

    KEYWORD = "keyword"
    INTEGER = "integer"


OWNER = "owner_id"
RESOURCE = "resource_id"
TYPE = "type"
PAYLOAD_FIELDS: dict[str, FieldKind] = {
    OWNER: FieldKind.KEYWORD,
    RESOURCE: FieldKind.KEYWORD,
    TYPE: FieldKind.KEYWORD,
    "filename": FieldKind.KEYWORD,
    "extension": FieldKind.KEYWORD,
    "language": FieldKind.KEYWORD,
    "sheet": FieldKind.KEYWORD,
    "page": FieldKind.INTEGER,
    "slide": FieldKind.INTEGER,
    "row": FieldKind.INTEGER,
    "date": FieldKind.INTEGER,
    "tag": FieldKind.KEYWORD,
}
_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)")
_DATE_KEYS = ("date", "modified", "created")
_TAG_KEYS = ("tags", "keywords")
_MAX_TAGS = 32
_MAX_ROWS = 1_000


def index_point(chunk: Chunk, dense: Sequence[float] | None, filename: str, language: str | None = None) -> Point:
    """The point of `chunk`. `language` is the resource's (ISO 639-1); detected from the chunk when None."""
    return Point(
        id=chunk.id,
        dense=tuple(dense) if dense is not None else None,
        sparse=sparse_document(
            chunk.text,
            chunk.context,
            language,
            table_words(chunk.text) if chunk.type is ChunkType.TABLE else None,
        ),
        payload=_payload(chunk, filename, language),
    )


def pulled(
    query: Sequence[float], pulls: Sequence[tuple[str, float]], vectors: Mapping[str, FloatMatrix]
) -> FloatMatrix:
    """`query` moved as `VectorQuery.pulls` says, shape (dimensions,); unmoved where the sum would vanish."""
    start = np.asarray(query, dtype=np.float32)
    known = [(vectors[key], weight) for key, weight in pulls if key in vectors]
    if not known:
        return start
    moved = start + np.array([weight for _, weight in known], dtype=np.float32) @ np.stack([v for v, _ in known])
    length = float(np.linalg.norm(moved))
    return (moved / length).astype(np.float32) if length > 0.0 else start


def keyword(value: str) -> str:
    """The form in which keyword fields are stored and queried: case-insensitive."""
    return value.strip().casefold()


def facts(metadata: JsonObject) -> dict[str, JsonValue]:
    """The parts of a file's or record's metadata that searches filter by: `date` (the whole number YYYYMMDD) and `tags`."""
    days = [day for key in _DATE_KEYS if (day := _day(metadata.get(key))) is not None]
    tags = [tag for key in _TAG_KEYS for tag in _tags(metadata.get(key))]
    found: dict[str, JsonValue] = {"date": days[0]} if days else {}
    return found | {"tags": list(dict.fromkeys(tags))[:_MAX_TAGS]} if tags else found


def _day(value: JsonValue) -> int | None:
    match = _DAY.match(value.strip()) if isinstance(value, str) else None
    if match is None or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        return None
    return int(match[1]) * 10_000 + int(match[2]) * 100 + int(match[3])


def _tags(value: JsonValue) -> list[str]:
    parts = re.split(r"[,;]", value) if isinstance(value, str) else value if isinstance(value, Sequence) else ()
    return [tag for part in parts if isinstance(part, str) and 0 < len(tag := keyword(part)) <= 128]


def _rows(place: Locator) -> int | list[int] | None:
    """Each row of a table stored as one chunk, so that any of them finds it."""
    if place.row is None or place.row_end is None or not place.row < place.row_end < place.row + _MAX_ROWS:
        return place.row
    return list(range(place.row, place.row_end + 1))


def _payload(chunk: Chunk, filename: str, language: str | None) -> dict[str, JsonValue]:
    place = chunk.locator
    payload: dict[str, JsonValue] = {
        OWNER: chunk.owner_id,
        RESOURCE: chunk.resource_id,
        TYPE: chunk.type.value,
        "filename": keyword(filename),
    }
    extension = PurePosixPath(filename).suffix.lstrip(".")
    pages = place.pages or ((place.page,) if place.page is not None else ())
    optional: dict[str, JsonValue] = {
        "extension": keyword(extension) or None,
        "language": language,
        "sheet": keyword(place.sheet) if place.sheet is not None else None,
        "page": list(pages) or None,
        "slide": place.slide,
        "row": _rows(place),
        "date": chunk.metadata.get("date"),
        "tag": chunk.metadata.get("tags"),
    }
    return payload | {key: value for key, value in optional.items() if value is not None}
