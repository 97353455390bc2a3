"""The tables on the pages of a file, with what its other tables and its words tell of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.agent.interface import PageTables
from citewell.agent.tables.lookup.fiscal import FISCAL_WORDS, end_month, needs_words, read_calendar
from citewell.agent.tables.lookup.periods import FiscalCalendar
from citewell.agent.tables.lookup.repeated import dated_figures, with_repeated, year_ends
from citewell.agent.tables.lookup.sheet import PageTable
from citewell.agent.tables.lookup.thresholds import LookupThresholds
from citewell.types import Element, ResourceInfo


async def read_tables(
    pages: PageTables, owner_id: str, file: ResourceInfo, limits: LookupThresholds
) -> tuple[PageTable, ...]:
    """The tables of a file's current version; `NotFound`. Its texts are searched only where the number of a year depends on them."""
    elements = await pages.page_tables(owner_id, file.id, limits.tables)
    stated = [
        PageTable(file.filename, file.id, file.version, element, provenance=file.provenance)
        for element in elements
        if _is_read(element, limits.cells)
    ]
    needs_scale = any(table.scale for table in stated)
    tables = with_repeated([replace(table, needs_scale=needs_scale) for table in stated])
    month = end_month(tables)
    if month is None:
        return tuple(tables)
    if not needs_words(month):
        return _on_calendar(tables, FiscalCalendar(month))
    texts = await pages.page_mentions(owner_id, file.id, FISCAL_WORDS, limits.fiscal_texts)
    return _on_calendar(tables, read_calendar(month, tables, texts))


def _on_calendar(tables: Sequence[PageTable], calendar: FiscalCalendar) -> tuple[PageTable, ...]:
    dated = dated_figures(tables) if calendar.shift else {}
    return tuple(
        replace(table, calendar=calendar, later=year_ends(table, dated) if dated else None) for table in tables
    )


def _is_read(element: Element, most: int) -> bool:
    """A table on a page: those of data files have queries of their own."""
    grid = element.grid
    if not grid or element.metadata.get("table") is not None or element.locator.sheet is not None:
        return False
    return len(grid[0]) > 1 and len(grid) * len(grid[0]) <= most
