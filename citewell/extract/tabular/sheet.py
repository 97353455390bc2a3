"""One sheet: its tables row by row, and the titles and notes around them."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from citewell.extract.tabular.layout import Table, continues, note_text, one_table, read_layout
from citewell.extract.tabular.regions import Region, SheetMap, find_regions
from citewell.extract.tabular.sheet_rows import Merges, SheetRows
from citewell.extract.tabular.writer import DataFile
from citewell.types import ElementType, Locator

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_HEAD_ROWS = 60


def read_sheet(sheet: CalamineSheet, data: DataFile) -> None:
    """Emit everything that the sheet's cells hold, from top to bottom."""
    if sheet.start is None:
        data.sink.skip("the sheet is empty")
        return
    rows, cells = SheetRows(sheet), SheetMap()
    for row in rows.all():
        cells.add(row)
    merges = Merges(sheet.merged_cell_ranges)
    ordinal = count(1)
    for part in _plan(rows, cells, merges):
        if isinstance(part, Region):
            _emit_notes(part, rows, sheet.name, data)
        else:
            _emit_table(part, next(ordinal), rows, sheet.name, data)


def _plan(rows: SheetRows, cells: SheetMap, merges: Merges) -> list[Table | Region]:
    """The sheet's tables and, as plain regions, its notes."""
    parts: list[Table | Region] = []
    for region in find_regions(cells, partial(one_table, sheet=cells, merges=merges)):
        head = [row for _, row in rows.within(region, _HEAD_ROWS)]
        found = read_layout(region, head, merges)
        if found is None or not found.header:
            above = _above(parts, region)
            if above is not None and continues(above, region, cells):
                above.more.append(region)
                continue
        parts.append(found or region)
    return parts


def _above(parts: list[Table | Region], region: Region) -> Table | None:
    """The last table that stands above the region in its columns."""
    for part in reversed(parts):
        place = part.region if isinstance(part, Table) else part
        if place.bottom < region.top and place.left <= region.right and place.right >= region.left:
            return part if isinstance(part, Table) else None
    return None


def _emit_notes(region: Region, rows: SheetRows, sheet: str, data: DataFile) -> None:
    for index, row in rows.within(region):
        if text := note_text(row):
            data.sink.emit(ElementType.PARAGRAPH, text, Locator(sheet=sheet, row=index + 1))


def _emit_table(table: Table, ordinal: int, rows: SheetRows, sheet: str, data: DataFile) -> None:
    name = sheet if ordinal == 1 else f"{sheet} ({ordinal})"
    for index, row in rows.within(table.region, table.titles):
        name = note_text(row)
        data.sink.emit(ElementType.PARAGRAPH, name, Locator(sheet=sheet, row=index + 1))
    writer = data.table(name, table.names, table.header_row, sheet)
    for part in (table.body, *table.more):
        lead: list[None] = [None] * (part.left - table.region.left)
        for index, row in rows.within(part):
            if any(cell is not None for cell in row):
                writer.add(index + 1, [*lead, *row])
    writer.finish()
