"""Rows of tables with labels and one value each, such as an outlook, which a question names by their title."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.tables.language.cells import form
from citewell.agent.tables.lookup.asked import CONTEXT, LookupQuestion
from citewell.agent.tables.lookup.periods import without_periods, years_of
from citewell.agent.tables.lookup.sheet import PageTable, SheetRow, words_of
from citewell.agent.tables.lookup.thresholds import THRESHOLDS

_FORECAST = form("outlook")
_FORECASTS = frozenset(
    form(word) for word in ("outlook", "guidance", "forecast", "expected", "expectation", "projected", "projection")
)


def titled_rows(tables: Sequence[PageTable], asked: LookupQuestion) -> tuple[PageTable, tuple[SheetRow, ...]] | None:
    """The rows of the one table whose title the question is, or the one row whose label it names beside its title; else None."""
    names = frozenset(name for table in tables for name in table.named)
    wanted = _plain([word for word in asked.measure if word not in names | CONTEXT])
    years = {period.year for period in asked.periods}
    found = [(table, rows) for table in tables if (rows := _rows(table, wanted, years))]
    return found[0] if len(found) == 1 else None


def _rows(table: PageTable, wanted: frozenset[str], years: set[int]) -> tuple[SheetRow, ...]:
    if len(table.grid[0]) != 2 or any(column.period is not None for column in table.columns):
        return ()
    title = " ".join((table.title, *table.element.locator.headings[-1:]))
    if not years <= set(years_of(title)):
        return ()
    said = _plain(words_of(without_periods(table.title))) - CONTEXT
    rows = tuple(row for row in table.rows if table.grid[row.number][1].strip())
    if not said or not said <= wanted:
        return ()
    if wanted == said:
        return rows if 1 < len(rows) <= THRESHOLDS.titled_rows else ()
    named = tuple(row for row in rows if row.needed <= wanted and wanted <= row.words | said)
    return named if len(named) == 1 else ()


def _plain(words: Sequence[str] | frozenset[str]) -> frozenset[str]:
    """The words, all that mean a forecast as one."""
    return frozenset(_FORECAST if word in _FORECASTS else word for word in words)
