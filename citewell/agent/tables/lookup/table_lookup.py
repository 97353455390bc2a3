"""Answers questions by looking up lines of the tables on pages, where it is certain which cell is meant."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from citewell.agent.interface import PageTables, TableReader
from citewell.agent.tables.lookup.answer import LookupAnswer, compose, compose_cell, compose_part, compose_rows
from citewell.agent.tables.lookup.asked import LookupOperation, LookupQuestion, read_lookup
from citewell.agent.tables.lookup.file_tables import read_tables
from citewell.agent.tables.lookup.find import LineMatch, named_rows
from citewell.agent.tables.lookup.measures import Measure, MeasurePoint, Quotient, ReportedLine, find_measure, scales_of
from citewell.agent.tables.lookup.pages import answer_from_pages, described, usable
from citewell.agent.tables.lookup.parts import asks_for_part, best_part
from citewell.agent.tables.lookup.periods import Period
from citewell.agent.tables.lookup.sheet import PageTable, SheetColumn
from citewell.agent.tables.lookup.thresholds import THRESHOLDS, LookupThresholds
from citewell.agent.tables.lookup.titled import titled_rows
from citewell.agent.tables.meaning.nearest import NearestTables
from citewell.types import Scope

_EXTREMES = (LookupOperation.TOP, LookupOperation.BOTTOM)


class TableLookup:
    """Looks up rows by columns in the tables of a few files, whose tables it remembers."""

    def __init__(
        self,
        pages: PageTables,
        thresholds: LookupThresholds = THRESHOLDS,
        reader: TableReader | None = None,
        nearest: NearestTables | None = None,
    ) -> None:
        """nearest: chooses the tables that the reader reads; None for all of them."""
        self._reader = reader
        self._nearest = nearest
        self._pages = pages
        self._thresholds = thresholds
        self._known: OrderedDict[tuple[str, int], tuple[PageTable, ...]] = OrderedDict()

    async def answer(self, owner_id: str, question: str, scope: Scope, found: Sequence[str]) -> LookupAnswer | None:
        """The answer; None where the question is not one for tables, or not certainly.

        found: the files of passages found for the question, the best first, whose tables are read where the scope holds more
        """
        asked = read_lookup(question)
        inside = scope.resource_ids
        few = inside is not None and len(inside) <= self._thresholds.whole_files
        tables = await self._tables(owner_id, inside) if few and inside is not None else []
        # What was found may be inside an archive that the scope names, which has no table itself.
        tables = tables or await self._tables(owner_id, tuple(dict.fromkeys(found)))
        if not tables:
            return None
        found_line = None if asked is None else await asyncio.to_thread(_answer, owner_id, asked, tables)
        if found_line is not None or self._reader is None:
            return found_line
        read = usable(tables)
        if self._nearest is not None:
            read = await self._nearest.of(question, read, described)
        return await asyncio.to_thread(answer_from_pages, owner_id, question, read, self._reader)

    async def _tables(self, owner_id: str, wanted: Sequence[str]) -> list[PageTable]:
        few = wanted[: self._thresholds.whole_files]
        return [table for resource in few for table in await self._learn(owner_id, resource)]

    async def _learn(self, owner_id: str, resource_id: str) -> tuple[PageTable, ...]:
        file = await self._pages.page_file(owner_id, resource_id)
        key = (file.id, file.version)
        if key not in self._known:
            limits = self._thresholds
            self._known[key] = await read_tables(self._pages, owner_id, file, limits)
            while len(self._known) > limits.cached_files:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def _answer(owner_id: str, asked: LookupQuestion, tables: Sequence[PageTable]) -> LookupAnswer | None:
    if asks_for_part(asked):
        part = best_part(tables, asked)
        return None if part is None else compose_part(owner_id, asked, part)
    measure = _measure(tables, asked)
    if measure is not None:
        points = _points(asked, measure)
        if points and len({cell.table.resource_id for point in points for cell in point.cells}) == 1:
            return compose(owner_id, asked, measure, points)
    if asked.below or asked.operation is LookupOperation.CHANGE:
        return None
    if (titled := titled_rows(tables, asked)) is not None:
        return compose_rows(owner_id, *titled)
    if asked.periods:
        return None
    return _by_header(owner_id, asked, tables)


def _measure(tables: Sequence[PageTable], asked: LookupQuestion) -> Measure | None:
    dated = [
        table
        for table in tables
        if any(column.period is not None for column in table.columns)
        and (asked.statement is None or table.kind in (None, asked.statement))
    ]
    above = find_measure(dated, _without_names(asked.measure, tables))
    if above is None or not asked.below:
        return above
    below = find_measure(dated, _without_names(asked.below, tables))
    return Quotient(above, below) if isinstance(above, ReportedLine) and isinstance(below, ReportedLine) else None


def _without_names(words: tuple[str, ...], tables: Sequence[PageTable]) -> tuple[str, ...]:
    """The words without those that a file's name writes as one: `Best Buy` in `BESTBUY_2023.pdf`."""
    names = {word for table in tables for word in table.named}
    joined = {i for i, (one, other) in enumerate(pairwise(words)) if one + other in names}
    return tuple(word for i, word in enumerate(words) if i not in joined and i - 1 not in joined)


def _points(asked: LookupQuestion, measure: Measure) -> list[MeasurePoint]:
    """The figures of all periods that are meant, the latest first; empty where one is missing.

    Both years that one number may mean, where the file does not say which; a year in which one ends, where none has this number.
    """
    points = _figures(asked, measure, sorted(asked.periods, reverse=True))
    if len(points) == 1 and points[0].period.year and points[0].cells[0].unclear and not points[0].period.ends:
        later = replace(points[0].period, year=points[0].period.year + 1)
        return [*filter(None, [measure.at(later)]), *points]
    if points or asked.fiscal or any(period.ends or not period.year for period in asked.periods):
        return points
    ending = [period.ending for period in asked.periods]
    return _figures(asked, measure, sorted(ending, reverse=True)) if ending else points


def _figures(asked: LookupQuestion, measure: Measure, periods: list[Period]) -> list[MeasurePoint]:
    known = list(measure.periods)
    compares = asked.operation not in (LookupOperation.VALUE, *_EXTREMES)
    if not periods:
        periods = known[:2] if asked.operation is LookupOperation.CHANGE else known
    elif len(periods) == 1 and not periods[0].year:
        periods = _newest(measure, periods[0])
    if len(periods) == 1 and asked.periods and compares:
        periods = [periods[0], periods[0].before]
    points = [measure.at(period) for period in periods[: THRESHOLDS.periods]]
    whole = [point for point in points if point is not None]
    scales = scales_of(whole)
    if len(scales) > 1 and 0 in scales:
        return []  # what has no scale may have lost it
    enough = len(whole) >= (2 if compares or asked.operation in _EXTREMES else 1)
    return whole if enough and len(whole) == len(points) else []


def _newest(measure: Measure, length: Period) -> list[Period]:
    """The newest period of a length, or a quarter of that number, for which there is a figure."""
    found = max((period for period in measure.all_periods if period.meets(length)), default=None)
    return [] if found is None else [Period(found.year, length.span, length.quarter)]


def _by_header(owner_id: str, asked: LookupQuestion, tables: Sequence[PageTable]) -> LookupAnswer | None:
    """The one cell whose row and column the question names, in tables whose columns are no periods."""
    words = frozenset(asked.measure)
    found = [
        (match, column)
        for table in tables
        for column in table.columns
        if column.period is None and len(column.needed & words) >= max(1.0, THRESHOLDS.label_share * len(column.needed))
        for match in named_rows([table], words, column.words)
        if match.row.needed & words - column.words and table.grid[match.row.number][column.number].strip()
    ]
    ranked = sorted(found, key=lambda pair: _weight(pair, words), reverse=True)
    if not ranked or (len(ranked) > 1 and _weight(ranked[0], words) == _weight(ranked[1], words)):
        return None
    match, column = ranked[0]
    return compose_cell(owner_id, match.table, match.row, column)


def _weight(pair: tuple[LineMatch, SheetColumn], words: frozenset[str]) -> tuple[float, float, int]:
    match, column = pair
    header = len(column.needed & words) / max(1, len(column.needed))
    return match.share + header, match.share, len((match.row.words | column.words) & words)
