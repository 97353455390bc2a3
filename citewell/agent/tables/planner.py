"""Plans a data question over the tables in scope: reads it against each, checks that the answer is unambiguous, or says why not."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from citewell.agent.interface import TableReader
from citewell.agent.offload import offload
from citewell.agent.tables.language import wording
from citewell.agent.tables.language.amounts import currencies_beside, is_money
from citewell.agent.tables.language.cells import Grid, grid_of
from citewell.agent.tables.language.exchange import exchanged
from citewell.agent.tables.language.generic import LISTING_SHAPES, asks_of_a_kind
from citewell.agent.tables.language.links import (
    TableWords,
    column_mentions,
    is_coded,
    names_of_table,
    table_words,
)
from citewell.agent.tables.language.named_file import of_named_file
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.meaning.follow_up import continued, may_continue
from citewell.agent.tables.meaning.nearest import Described, NearestTables, description
from citewell.agent.tables.meaning.plans import plan_of
from citewell.agent.tables.meaning.reader import (
    KnownTable,
    ReadTable,
    chance_of,
    planned_table,
    read_table,
    title_of,
    view_of,
)
from citewell.agent.tables.query.typed import (
    Aggregate,
    ColumnRef,
    Comparator,
    DatePart,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import TableEngine, faults_of, table_key, table_name
from citewell.agent.tables.run.totals import find_total_rows, holds_subtotals
from citewell.agent.tables.thresholds import THRESHOLDS, TableThresholds
from citewell.text.analysis import analyze
from citewell.text.correction import Speller, words_of
from citewell.types import ROW_COLUMN, TableColumn, TableInfo

_WITHOUT_TOTALS = frozenset({Shape.COUNT, Shape.FIGURE, Shape.GROUPS, Shape.EXTREME, Shape.TOP})
_DATED_COLUMNS = 8
"""Columns of dates whose years are known,"""
_NUMERIC_COLUMNS = 50
"""and of numbers whose ranges are."""
_MIXING = frozenset({Shape.FIGURE, Shape.GROUPS, Shape.EXTREME, Shape.TOP, Shape.COMPARE, Shape.PART, Shape.SERIES})
_SHOWN = 4
"""Currencies that a refusal names."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and how likely it is what was asked; `left_out` are total rows that it does not count."""

    plan: Plan
    left_out: tuple[int, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Refused:
    """The question is one for the tables, but not one that the rules can answer.

    computes: it asks for a figure over several rows, so that no single row may be taken for the answer;
    of_a_kind: it asks what makes any row of the table so, which is said elsewhere if at all.
    """

    reason: str
    computes: bool = False
    of_a_kind: bool = False


@dataclass(frozen=True)
class _Known:
    """What is remembered of a table version: its words, the column that names its rows, its total rows; `vocabulary`: each word in it."""

    words: TableWords
    label: TableColumn | None
    totals: tuple[int, ...]
    subtotals: bool
    grid: Grid | None = None
    vocabulary: frozenset[str] = frozenset()

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its words as search compares them."""
        return frozenset(analyze(" ".join(self.vocabulary), "en"))

    @cached_property
    def described(self) -> Described:
        """How the nearest tables are chosen."""
        columns = ((column.name, self.words.values.get(column.name, ())) for column in self.words.table.columns)
        return Described(self.terms, description(title_of(self.words.table), columns))

    @property
    def shown(self) -> KnownTable:
        """The part that a reader of tables is shown."""
        return KnownTable(self.words, self.label, self.grid)

    @property
    def summing_rows(self) -> tuple[int, ...]:
        """The numbers of all rows that sum up others: the last one, and those that their names and figures show."""
        named = () if self.grid is None else (self.grid.numbers[row] for row in self.grid.totals)
        return tuple(sorted({*self.totals, *named}))


@dataclass(frozen=True, slots=True)
class _Likely:
    """A reading beside a table, and how likely its answer is right."""

    chance: float
    read: ReadTable
    known: _Known


class TablePlanner:
    """Makes typed queries of questions. reader: says what a question means of a table; speller: corrects words of a question;
    nearest: chooses the tables that are read, None for all of them.
    """

    def __init__(
        self,
        engine: TableEngine,
        thresholds: TableThresholds = THRESHOLDS,
        speller: Speller | None = None,
        reader: TableReader | None = None,
        nearest: NearestTables | None = None,
    ) -> None:
        self._reader = reader
        self._nearest = nearest
        self._engine = engine
        self._speller = speller
        self._thresholds = thresholds
        self._known: OrderedDict[tuple[str, int, str], _Known] = OrderedDict()

    async def consider(
        self, owner_id: str, question: str, tables: Sequence[TableInfo], *, only: bool = False
    ) -> Planned | Refused | None:
        """A plan; a refusal with its reason; or None when the question is not one for the tables.

        only: the question is asked of these tables and of no other file, so they are likelier meant; so it is where it
        names a file itself. Raises `UnusableTable` for one that must be left out: the others can be considered without it.
        """
        if len(question) > self._thresholds.question_characters:
            return None
        if named := of_named_file(question, tables):
            question, tables, only = named.question, named.tables, True
        asked = await self._asked_of(owner_id, question, tables)
        found = await self._meant(owner_id, question, asked, only=only)
        if isinstance(found, Planned) and found.plan.shape in LISTING_SHAPES and asks_of_a_kind(question):
            return Refused("it asks what makes a row so, and rows only show which are", computes=True, of_a_kind=True)
        return found

    async def _asked_of(self, owner_id: str, question: str, tables: Sequence[TableInfo]) -> list[tuple[str, _Known]]:
        """What is known of each table that the question may be about, and the question as it spells it."""
        asked: list[tuple[str, _Known]] = []
        for table in _likely(question, tables, self._thresholds):
            with faults_of(table):
                known = await self._learn(owner_id, table)
                asked.append((await offload(len(known.vocabulary), self._spelt, question, known), known))
        return asked

    async def _meant(
        self, owner_id: str, question: str, asked: Sequence[tuple[str, _Known]], *, only: bool
    ) -> Planned | Refused | None:
        """The plan of the likeliest reading beside any table; None where the question is meant for none of them."""
        found, is_meant = await self._likeliest(question, asked)
        if found is None:
            return None
        if found.chance < (self._thresholds.meant_alone if only else self._thresholds.meant):
            reason = f"it is not clear what of {table_name(found.read.plan.table)} is meant"
            return Refused(reason, computes=found.read.computes) if is_meant else None
        return await self._planned(owner_id, found)

    async def _likeliest(self, question: str, asked: Sequence[tuple[str, _Known]]) -> tuple[_Likely | None, bool]:
        """The likeliest reading beside any table, and whether any of them is likelier meant than not."""
        if self._reader is None:
            return None, False
        nearest = asked
        if self._nearest is not None:
            nearest = await self._nearest.of(question, asked, lambda one: one[1].described)
        found: list[_Likely] = []
        is_meant = False
        for spelt, known in nearest:
            with faults_of(known.words.table):
                meant, read = await asyncio.to_thread(read_table, self._reader, spelt, known.shown)
                is_meant = is_meant or meant > 0
                found += [_Likely(chance_of(read, self._thresholds), read, known)] if read is not None else []
        return max(found, key=lambda one: one.chance, default=None), is_meant

    async def _planned(self, owner_id: str, found: _Likely) -> Planned | Refused:
        settled = await self._settle(owner_id, found.read.plan, found.known)
        return replace(settled, confidence=round(found.chance, 4)) if isinstance(settled, Planned) else settled

    async def continued(
        self, owner_id: str, earlier: Sequence[str], own: str, tables: Sequence[TableInfo]
    ) -> Planned | Refused | None:
        """The question before with the values or the column that `own` names: `and heating?`; None where it names none of that table.

        earlier: the questions of the thread, oldest first, each of which may itself go on from the one before
        """
        limits = self._thresholds
        asked = [
            await self._asked_of(owner_id, one, tables) if len(one) <= limits.question_characters else []
            for one in earlier
        ]
        # Before any of them is read with the model: most questions of a thread name nothing of a table.
        words = [known.words for tables_of_one in asked for _, known in tables_of_one]
        if not any([await offload(len(own), may_continue, own, one) for one in words]):
            return None
        before: _Likely | None = None
        for question, known in zip(earlier, asked, strict=True):
            after = await self._after(before, question)
            if after is None:
                after, _ = await self._likeliest(question, known)
            before = after if after is not None and after.chance >= limits.meant else None
        found = await self._after(before, own)
        return None if found is None else await self._planned(owner_id, found)

    async def _after(self, before: _Likely | None, own: str) -> _Likely | None:
        return None if before is None else await offload(len(own), self._continued, before, own)

    @staticmethod
    def _continued(before: _Likely, own: str) -> _Likely | None:
        """What a follow-up makes of the reading of the question before."""
        known = before.known.shown
        view = view_of(own, known)
        meaning = continued(before.read.meaning, own, known.words, {one.name: one for one in view.columns})
        plan = plan_of(meaning, planned_table(known)) if meaning is not None else None
        if meaning is None or plan is None:
            return None
        return replace(before, read=replace(before.read, meaning=meaning, plan=plan))

    async def count_rows(self, owner_id: str, table: TableInfo) -> Planned | Refused:
        """The plan that counts all rows of a table but its totals."""
        query = TableQuery(source=table_key(table), aggregates=(Aggregate(Function.COUNT),), limit=1)
        plan = Plan(shape=Shape.COUNT, table=table, query=query, function=Function.COUNT)
        return await self._settle(owner_id, plan, await self._learn(owner_id, table))

    async def exchanged(self, owner_id: str, base: str, own: str, tables: Sequence[TableInfo]) -> str | None:
        """The question `base` with the time that `own` names in the place of its own; None where tables do not tell one way."""
        found: set[str] = set()
        for table in _likely(base, tables, self._thresholds):
            with faults_of(table):
                known = await self._learn(owner_id, table)
                found.update(filter(None, [exchanged(base, own, known.words)]))
        return found.pop() if len(found) == 1 else None

    def _spelt(self, question: str, known: _Known) -> str:
        """The question, with misspelled words of the table corrected."""
        return question if self._speller is None else self._speller.correct(question, known.vocabulary)

    async def _settle(self, owner_id: str, found: Plan, known: _Known) -> Planned | Refused:
        with faults_of(found.table):
            return await self._settled(owner_id, found, known)

    async def _settled(self, owner_id: str, found: Plan, known: _Known) -> Planned | Refused:
        left_out = known.summing_rows if found.shape in _WITHOUT_TOTALS else ()
        if known.subtotals and found.shape in _WITHOUT_TOTALS:
            return Refused(
                f"{table_name(found.table)} holds subtotals among its rows, which would be counted twice", computes=True
            )
        if (row := _summed_row(found, known.grid)) is not None:
            return Refused(
                f"row {row} of {table_name(found.table)} is the sum of all the others, and may be their total",
                computes=True,
            )
        if left_out:
            found = replace(found, query=_without(found.query, left_out))
        if (told := _mixed_currencies(found, known)) is not None:
            return Refused(f"its amounts are in several currencies ({', '.join(told[:_SHOWN])})", computes=True)
        return Planned(found, left_out)

    async def _learn(self, owner_id: str, table: TableInfo) -> _Known:
        key = (table.resource_id, table.version, table.id)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        values: dict[str, tuple[str, ...]] = {}
        for column in table.columns:
            if column.kind == "text":
                found = await self._engine.distinct(owner_id, table, column.name, self._thresholds.distinct_values)
                if found is not None:
                    values[column.name] = found
        unique = [c for c in table.columns if len(values.get(c.name, ())) == table.rows > 0]
        label = min(unique, key=lambda c: is_coded(values[c.name]), default=None)
        totals = await find_total_rows(self._engine, owner_id, table)
        subtotals = holds_subtotals(values, len(totals))
        words = await asyncio.to_thread(
            table_words, table, values, await self._years(owner_id, table), await self._ranges(owner_id, table)
        )
        grid = await self._hold(owner_id, table, totals) if 0 < table.rows <= self._thresholds.held_rows else None
        texts = (
            table.filename,
            table.sheet or "",
            *(column.name for column in table.columns),
            *chain(*values.values()),
        )
        vocabulary = await asyncio.to_thread(words_of, texts)
        self._known[key] = _Known(words, label, totals, subtotals, grid, vocabulary)
        while len(self._known) > self._thresholds.cached_tables:
            self._known.popitem(last=False)
        return self._known[key]

    async def _years(self, owner_id: str, table: TableInfo) -> dict[str, tuple[int, int]]:
        """The first and the last year of each column of dates."""
        dated = [column.name for column in table.columns if column.is_dated][:_DATED_COLUMNS]
        ends = await self._ends(owner_id, table, dated, DatePart.YEAR)
        return {name: (int(low), int(high)) for name, (low, high) in ends.items()}

    async def _ranges(self, owner_id: str, table: TableInfo) -> dict[str, tuple[float, float]]:
        """The lowest and the highest number of each column of numbers."""
        numeric = [column.name for column in table.columns if column.is_numeric][:_NUMERIC_COLUMNS]
        ends = await self._ends(owner_id, table, numeric)
        return {name: (float(low), float(high)) for name, (low, high) in ends.items()}

    async def _ends(
        self, owner_id: str, table: TableInfo, names: Sequence[str], part: DatePart | None = None
    ) -> dict[str, tuple[Any, Any]]:
        if not names or not table.rows:
            return {}
        ends = tuple(Aggregate(function, name, part) for name in names for function in (Function.MIN, Function.MAX))
        found = await self._engine.run(owner_id, table, TableQuery(source=table_key(table), aggregates=ends))
        values = found.rows[0].values
        pairs = zip(names, values[::2], values[1::2], strict=True)
        return {name: (low, high) for name, low, high in pairs if low is not None and high is not None}

    async def _hold(self, owner_id: str, table: TableInfo, totals: Sequence[int]) -> Grid:
        """All cells of a small table."""
        query = TableQuery(source=table_key(table), order=(Order(ROW_COLUMN),), limit=self._thresholds.held_rows)
        found = await self._engine.run(owner_id, table, query)
        return grid_of(table, [(row.values, row.rows.first or 0) for row in found.rows], totals)


def _mixed_currencies(plan: Plan, known: _Known) -> Sequence[str] | None:
    """The currencies of the amounts that a plan adds up or ranks, where it takes them from rows of several."""
    told = currencies_beside(plan.table, known.words.values)
    if told is None or plan.metric is None or not plan.metric.is_numeric or not is_money(plan.metric):
        return None
    column, texts = told
    chosen = any(c.ref.column == column.name and c.comparison is Comparator.EQ for c in plan.query.conditions)
    grouped = any(group.column == column.name for group in plan.query.groups)
    return None if chosen or grouped or plan.shape not in _MIXING else texts


def _summed_row(plan: Plan, grid: Grid | None) -> int | None:
    """The row that may be a total of the others, where it would be added to them or be the highest of all rows."""
    highest = plan.shape in (Shape.EXTREME, Shape.TOP) and plan.descending
    adds = plan.shape is Shape.FIGURE and plan.function in (Function.SUM, Function.AVG)
    whole = all(c.ref.column == ROW_COLUMN or c.comparison is Comparator.NOT_EMPTY for c in plan.query.conditions)
    if grid is None or plan.metric is None or not whole or not (highest or adds):
        return None
    return grid.sum_of_others(plan.metric.name)


def _likely(question: str, tables: Sequence[TableInfo], limits: TableThresholds) -> list[TableInfo]:
    """Tables that the question may be about: it names a column, a sheet or a file that holds one, or there are few columns to look at."""
    words = wording.words(question)
    norms = {word.norm for word in words}
    scored = [
        (len(column_mentions(words, table)) + len(norms & names_of_table(table) - wording.FILLERS), table)
        for table in tables
    ]
    likely = [
        table for score, table in sorted(scored, key=lambda pair: -pair[0]) if score or table.rows <= limits.small_table
    ]
    return likely[: limits.tables]


def _without(query: TableQuery, rows: tuple[int, ...]) -> TableQuery:
    return replace(query, conditions=(*query.conditions, RowCondition(ColumnRef(ROW_COLUMN), Comparator.NOT_IN, rows)))
