"""The layout of a sheet: its tables with their headers, continuations and names, and the notes around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from citewell.extract.formats.tabular.headers import MAX_HEADER_ROWS, join_names
from citewell.extract.formats.tabular.layout import SheetTable, continues, note_text, one_table, read_layout
from citewell.extract.formats.tabular.regions import Region, SheetMap, find_regions
from citewell.extract.formats.tabular.sheet_rows import SheetRows
from citewell.extract.formats.tabular.workbook_parts import NamedTable

_HEAD_ROWS = 60
"""Rows of a region searched for its header."""
_BLANK_BELOW_HEADER = 2
"""Most blank rows between a header and its table. Set by hand."""
_MAX_TITLE_LENGTH = 200
"""Characters of the longest table name."""


def plan_sheet(rows: SheetRows, cells: SheetMap, named: Sequence[NamedTable]) -> list[SheetTable | Region]:
    """Returns the sheet's tables and (as plain regions) notes, top to bottom; `named` tables are kept as defined."""
    parts: list[SheetTable | Region] = []
    rest = SheetMap(list(cells.filled), cells.data, cells.heads)
    for table in named:
        if rest.count(rest.filled, table.region):
            parts.append(_as_made(table, rows))
            rest.clear(table.region)
    for region in find_regions(rest, partial(one_table, sheet=cells, merges=rows.merges)):
        _place_region(region, parts, rows, cells)
    return sorted(parts, key=lambda part: (_place(part).top, _place(part).left))


def _place_region(region: Region, parts: list[SheetTable | Region], rows: SheetRows, cells: SheetMap) -> None:
    """Adds a region to the plan: as a continuation of the table above it, as a table, or as notes."""
    head = [row for _, row in rows.within(region, _HEAD_ROWS)]
    found = read_layout(region, head, rows.merges)
    if found is None or not found.header:
        if not cells.count(cells.data, region):
            found = found if region.height > MAX_HEADER_ROWS else None
        else:
            found = _with_header_above(found or SheetTable(region, 0, 0, []), parts, rows, cells) or found
        above = _above(parts, region)
        if (found is None or not found.named) and above is not None and continues(above, region, cells):
            above.more.append(region)
            return
    if found is not None and not found.titles:
        found.name = _title_above(found, parts, rows)
    parts.append(found or region)


def _with_header_above(
    table: SheetTable, parts: list[SheetTable | Region], rows: SheetRows, cells: SheetMap
) -> SheetTable | None:
    """Returns the table with the names above it, past a blank row; their regions are removed from the plan."""
    region = table.region
    first = max(region.top - _BLANK_BELOW_HEADER - 1, 0)
    band = [part for part in parts if isinstance(part, Region) and _heads(part, region, first, cells)]
    if not band:
        return None
    top, bottom = min(part.top for part in band), max(part.bottom for part in band)
    band = [
        part
        for part in parts
        if isinstance(part, Region)
        and top <= part.bottom <= bottom
        and region.left <= part.left
        and part.right <= region.right
    ]
    top = min(part.top for part in band)
    if bottom - top >= MAX_HEADER_ROWS:
        return None
    head = [row for _, row in rows.within(Region(top, bottom, region.left, region.right))]
    data_columns = [
        column
        for column in range(region.width)
        if cells.count(cells.data, replace(region, left=region.left + column, right=region.left + column))
    ]
    if sum(any(row[column] is not None for row in head) for column in data_columns) * 2 <= len(data_columns):
        return None
    parts[:] = [part for part in parts if part not in band]
    return replace(table, titles=0, header=0, names=join_names(head, region.left), head=bottom)


def _heads(part: Region, region: Region, first: int, cells: SheetMap) -> bool:
    """Whether a region of texts ends just above another one, within its columns."""
    close = first <= part.bottom < region.top and region.left <= part.left and part.right <= region.right
    return close and part.height <= MAX_HEADER_ROWS and not cells.count(cells.data, part)


def _title_above(table: SheetTable, parts: Sequence[SheetTable | Region], rows: SheetRows) -> str:
    """Returns a lone text just above a table, or above its header."""
    top = table.region.top if table.head is None else table.head
    for part in reversed(parts):
        if isinstance(part, Region) and part.width == 1 and part.height == 1 and top - 3 <= part.bottom < top:
            text = note_text(next(row for _, row in rows.within(part)))
            return text if len(text) <= _MAX_TITLE_LENGTH else ""
    return ""


def _as_made(table: NamedTable, rows: SheetRows) -> SheetTable:
    """Converts a named table to a table of the sheet."""
    header = [row for _, row in rows.within(table.region, table.header)]
    names = join_names(header or [[None] * table.region.width], table.region.left)
    return SheetTable(table.region, 0, table.header, names, name=table.name)


def _above(parts: Sequence[SheetTable | Region], region: Region) -> SheetTable | None:
    """Returns the last part above the region in its columns, if it is a table that may continue."""
    for part in reversed(parts):
        place = _place(part)
        if place.bottom < region.top and place.left <= region.right and place.right >= region.left:
            return part if isinstance(part, SheetTable) else None
    return None


def _place(part: SheetTable | Region) -> Region:
    return part.region if isinstance(part, SheetTable) else part
