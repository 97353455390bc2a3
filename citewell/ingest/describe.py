"""A short description of a resource, made from what was read: shown in lists, and indexed as a chunk of type `summary` for data files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from citewell.types import ChunkDraft, ChunkType, Element, ElementType, JsonObject, Locator

_MOST_CHARACTERS = 400
_MOST_COLUMNS = 40


def describe_document(elements: Iterable[Element]) -> str | None:
    """The title and the first paragraph of prose, cut at 400 characters."""
    title = next((e.text for e in elements if e.type is ElementType.TITLE), None)
    prose = next((e.text for e in elements if e.type is ElementType.PARAGRAPH and len(e.text) > 60), None)
    parts = [part.strip() for part in (title, prose) if part]
    text = ": ".join(parts)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1].rstrip() + "…"


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
    shown = "; ".join(_describe_column(column) for column in columns[:_MOST_COLUMNS])
    more = f"; and {len(columns) - _MOST_COLUMNS} more" if len(columns) > _MOST_COLUMNS else ""
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
