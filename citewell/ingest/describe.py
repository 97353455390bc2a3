"""Descriptions computed from extraction results: statistics of tables, and facts about pictures and videos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from citewell.types import PAGE_PICTURE, ChunkDraft, ChunkType, Element, JsonObject, Locator, Piece
from citewell.types.locators import clock

_MAX_CHARACTERS = 400
_MAX_DATA_CHARACTERS = 1_200
_FULL_COLUMNS = 12
_FEW_VALUES = 5
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


def describe_picture(filename: str, metadata: JsonObject) -> ChunkDraft:
    """A picture's name, format, size and camera or author data, so that a picture without text can be found and cited."""
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


def describe_video(filename: str, metadata: JsonObject) -> ChunkDraft:
    """A video's name, length and size, so that a video without text can be found and cited."""
    seconds = metadata.get("seconds")
    facts = [f"{clock(float(seconds))} long"] if isinstance(seconds, int | float) else []
    facts += [f"{metadata.get('width', '?')} × {metadata.get('height', '?')} pixels"]
    text = f"Video {filename}: {', '.join(facts)}."
    return ChunkDraft(type=ChunkType.IMAGE, text=text[:_MAX_CHARACTERS], locator=Locator(second=0.0))


def captioned(drafts: Iterable[ChunkDraft], picture: Element | None) -> Iterator[ChunkDraft]:
    """Pieces of a caption as chunks of its picture: words and picture are embedded together.

    picture: a video's first frame; None if the file itself is the picture
    """
    for draft in drafts:
        pieces = () if picture is None else (Piece(picture.id, 0, 0),)
        locator = Locator() if picture is None else picture.locator
        yield replace(draft, type=ChunkType.IMAGE, locator=locator, pieces=pieces)


def describe_shown(filename: str, picture: Element) -> ChunkDraft:
    """A text that names the place of a wordless picture in a file, for an embedder that sees the picture itself."""
    place = picture.locator.place()
    if PAGE_PICTURE in picture.metadata:
        text = f"Page {picture.locator.page} of {filename}, as a picture."
        return ChunkDraft(
            type=ChunkType.IMAGE,
            text=text[:_MAX_CHARACTERS],
            locator=picture.locator,
            pieces=(Piece(picture.id, 0, 0),),
        )
    text = f"Picture in {filename}, {place}." if place else f"Picture in {filename}."
    return ChunkDraft(
        type=ChunkType.IMAGE, text=text[:_MAX_CHARACTERS], locator=picture.locator, pieces=(Piece(picture.id, 0, 0),)
    )


def describe_tables(metadata: JsonObject) -> list[ChunkDraft]:
    """One summary per table of a data file: its name, number of rows, and columns with their statistics.

    It contains no text values, which are in the table's chunks.
    """
    drafts = [_describe_table(table, values=False) for table in _tables(metadata)]
    return [draft for draft in drafts if draft is not None]


def describe_data(metadata: JsonObject) -> str | None:
    """A data file's content, computed from the statistics of its tables; None without tables."""
    drafts = [_describe_table(table, values=True) for table in _tables(metadata)]
    said = [draft.text for draft in drafts if draft is not None]
    if not said:
        return None
    text = " ".join(said) if len(said) == 1 else f"{len(said)} tables. {' '.join(said)}"
    return text if len(text) <= _MAX_DATA_CHARACTERS else text[: _MAX_DATA_CHARACTERS - 1].rstrip() + "…"


def _tables(metadata: JsonObject) -> list[Mapping[str, Any]]:
    tables = metadata.get("tables")
    return [table for table in tables if isinstance(table, Mapping)] if isinstance(tables, list) else []


def _describe_table(table: Mapping[str, Any], *, values: bool) -> ChunkDraft | None:
    columns = [c for c in table.get("columns", ()) if isinstance(c, Mapping) and c.get("name")]
    if not columns:
        return None
    name = table.get("sheet") or table.get("name") or "table"
    full = len(columns) <= _FULL_COLUMNS
    shown = "; ".join(_describe_column(column, full=full, values=values) for column in columns[:_MAX_COLUMNS])
    more = f"; and {len(columns) - _MAX_COLUMNS} more" if len(columns) > _MAX_COLUMNS else ""
    size = f"{_counted(table.get('row_count', 0), 'row')}, {_counted(len(columns), 'column')}"
    text = f"Table {name}: {size}. Columns: {shown}{more}."
    sheet = table.get("sheet")
    return ChunkDraft(
        type=ChunkType.SUMMARY, text=text, locator=Locator(sheet=sheet if isinstance(sheet, str) else None)
    )


def _describe_column(column: Mapping[str, Any], *, full: bool, values: bool) -> str:
    """The column's name and range; with `full` also its mean, empty cells, and number of distinct values (or, if few, the `values`)."""
    low, high, mean = column.get("min"), column.get("max"), column.get("mean")
    facts = [f"{low} to {high}"] if low is not None and high is not None else []
    if full:
        facts += [f"mean {mean:,.6g}"] if isinstance(mean, int | float) and low != high else []
        samples, distinct = column.get("samples"), column.get("distinct")
        if not facts and isinstance(distinct, int) and isinstance(samples, list | tuple):
            named = [str(value) for value in samples] if values and distinct <= min(_FEW_VALUES, len(samples)) else []
            facts += [", ".join(named) or f"{distinct:,} different"]
        facts += [f"{column['nulls']:,} empty"] if isinstance(column.get("nulls"), int) and column["nulls"] else []
    told = [fact for fact in facts if fact]
    return f"{column['name']} ({', '.join(told)})" if told else str(column["name"])


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
