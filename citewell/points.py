"""A chunk as a vector store holds it: its vectors and the payload that filters may use. Built the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from citewell.text.sparse import sparse_document
from citewell.types import Chunk, JsonValue, Point


class FieldKind(StrEnum):
    """What a payload field holds, which decides the operators and values that a condition on it may have."""

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
}


def index_point(chunk: Chunk, dense: Sequence[float] | None, filename: str, language: str | None = None) -> Point:
    """The point of `chunk`. `language` is the resource's (ISO 639-1); detected from the chunk when None."""
    return Point(
        id=chunk.id,
        dense=tuple(dense) if dense is not None else None,
        sparse=sparse_document(chunk.text, chunk.context, language),
        payload=_payload(chunk, filename, language),
    )


def keyword(value: str) -> str:
    """The form in which keyword fields are stored and asked for: case does not matter."""
    return value.strip().casefold()


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
        "row": place.row,
    }
    return payload | {key: value for key, value in optional.items() if value is not None}
