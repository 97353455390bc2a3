"""A short description of a resource, made from its content: shown in lists, and indexed as a `summary` chunk for data files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citewell.types import ChunkDraft, ChunkType, Element, ElementType, JsonObject, Locator, Piece

_MAX_CHARACTERS = 400
_MAX_COLUMNS = 40
_SAID_OF_PICTURES = (
    "ImageDescription",
    "XPTitle",
    "XPComment",
    "XPKeywords",
    "UserComment",
    "Title",
    "Description",
    "Comment",
)


def describe_document(elements: Sequence[Element]) -> str | None:
    """The title and the first paragraph of prose, cut at 400 characters; None when there is neither."""
    title = next((e.text for e in elements if e.type is ElementType.TITLE), None)
    prose = next((e.text for e in elements if e.type is ElementType.PARAGRAPH and len(e.text) > 60), None)
    parts = [part.strip() for part in (title, prose) if part]
    text = ": ".join(parts)
    if not text:
        return None
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1].rstrip() + "…"


def describe_picture(filename: str, metadata: JsonObject) -> ChunkDraft:
    """A picture's name, format, size and what its camera or author noted, so that a picture without text can be found and cited too."""
    facts = [f"{metadata.get('width', '?')} × {metadata.get('height', '?')} pixels", str(metadata.get("format") or "")]
    exif, comments = metadata.get("exif"), metadata.get("comments")
    named = {**(exif if isinstance(exif, Mapping) else {}), **(comments if isinstance(comments, Mapping) else {})}
    camera = " ".join(str(named[key]) for key in ("Make", "Model") if key in named)
    taken = named.get("DateTimeOriginal") or named.get("DateTime")
    facts += [f"taken {taken}"] if taken else []
    facts += [f"camera {camera}"] if camera else []
    facts += [str(named[key]) for key in _SAID_OF_PICTURES if key in named]
    text = f"Picture {filename}: {', '.join(fact for fact in facts if fact)}."
    return ChunkDraft(type=ChunkType.IMAGE, text=text[:_MAX_CHARACTERS], locator=Locator())


def describe_shown(filename: str, picture: Element) -> ChunkDraft:
    """The place of a picture without words inside a file, for an embedder that sees the picture itself."""
    place = picture.locator.place()
    text = f"Picture in {filename}, {place}." if place else f"Picture in {filename}."
    return ChunkDraft(
        type=ChunkType.IMAGE, text=text[:_MAX_CHARACTERS], locator=picture.locator, pieces=(Piece(picture.id, 0, 0),)
    )


def describe_tables(metadata: JsonObject) -> list[ChunkDraft]:
    """One summary per table of a data file: its name, number of rows, and columns with their ranges."""
    tables = metadata.get("tables")
    if not isinstance(tables, list):
        return []
    drafts = [_describe_table(table) for table in tables if isinstance(table, Mapping)]
    return [draft for draft in drafts if draft is not None]


def _describe_table(table: Mapping[str, Any]) -> ChunkDraft | None:
    columns = [c for c in table.get("columns", ()) if isinstance(c, Mapping) and c.get("name")]
    if not columns:
        return None
    name = table.get("sheet") or table.get("name") or "table"
    shown = "; ".join(_describe_column(column) for column in columns[:_MAX_COLUMNS])
    more = f"; and {len(columns) - _MAX_COLUMNS} more" if len(columns) > _MAX_COLUMNS else ""
    text = f"Table {name}: {table.get('row_count', 0):,} rows, {len(columns)} columns. Columns: {shown}{more}."
    sheet = table.get("sheet")
    return ChunkDraft(
        type=ChunkType.SUMMARY, text=text, locator=Locator(sheet=sheet if isinstance(sheet, str) else None)
    )


def _describe_column(column: Mapping[str, Any]) -> str:
    low, high = column.get("min"), column.get("max")
    if low is None or high is None:
        return str(column["name"])
    return f"{column['name']} ({low} to {high})"
