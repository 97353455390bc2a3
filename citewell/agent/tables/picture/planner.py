"""Plans the query behind a picture that is asked for in words; what is measured, and over which rows, the table planner decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from citewell.agent.tables.language import wording
from citewell.agent.tables.language.links import (
    column_mentions,
    core_name,
    is_numbering,
    names_of_table,
    unit_words,
)
from citewell.agent.tables.language.named_file import of_named_file
from citewell.agent.tables.picture.choose import Wish
from citewell.agent.tables.picture.dimension import Dimension, date_columns, find_dimensions
from citewell.agent.tables.picture.moments import moments
from citewell.agent.tables.picture.picture import MAX_BARS, MAX_POINTS, MAX_SERIES, Form
from citewell.agent.tables.picture.request import PictureRequest, read_request
from citewell.agent.tables.planner import Planned, Refused, TablePlanner
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
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
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn, TableInfo

# Figures of which a sum says nothing: an average stands for several rows.
_NOT_ADDED = frozenset(map(wording.norm, ("rate", "ratio", "share", "percent", "percentage", "average", "mean", "median", "price", "score", "age", "index", "yield", "margin", "temperature")))  # fmt: skip
_COUNTS = frozenset(map(wording.norm, ("number", "count", "frequency")))
_FIGURES = frozenset(map(wording.norm, ("average", "mean", "median", "total", "sum", "share", "percentage", "different", "distinct")))  # fmt: skip
_ADDED = frozenset(map(wording.norm, ("total", "sum")))
_DAYS = (
    (62, DatePart.DAY),
    (4 * 366, DatePart.MONTH),
    (12 * 366, DatePart.QUARTER),
)  # spans up to which a part is drawn
_RANGES = (5, 20)  # of a histogram, about


@dataclass(frozen=True, slots=True)
class PlannedPicture:
    """The query whose result is drawn; `left_out` are total rows that it does not count."""

    table: TableInfo
    query: TableQuery
    wish: Wish
    left_out: tuple[int, ...] = ()


class PicturePlanner:
    """Makes typed queries of requests for pictures, by rules."""

    def __init__(self, engine: TableEngine, planner: TablePlanner) -> None:
        self._engine = engine
        self._planner = planner

    async def consider(
        self, owner_id: str, message: str, tables: Sequence[TableInfo]
    ) -> PlannedPicture | Refused | None:
        """A plan; a refusal with its reason; None when the message asks for no picture of these tables; `UnusableTable` as `TablePlanner.consider`."""
        if named := of_named_file(message, tables):
            message, tables = named.question, named.tables
        request = read_request(message)
        if request is None:
            return None
        question = wording.words(request.subject)
        about = [t for t in tables if column_mentions(question, t)][: THRESHOLDS.tables]
        plans: list[PlannedPicture] = []
        reasons: list[str] = []
        for table in about:
            with faults_of(table):
                found = await self._plan(owner_id, request, table)
            if isinstance(found, PlannedPicture):
                plans.append(found)
            elif found is not None:
                reasons.append(found.reason)
        if len(plans) > 1:
            plans = _best_named(question, plans)
        if len(plans) > 1:
            names = ", ".join(table_name(plan.table) for plan in plans)
            return Refused(f"several tables could be meant: {names}", computes=True)
        if plans:
            return plans[0]
        return Refused(reasons[0], computes=True) if reasons else None

    async def _plan(self, owner_id: str, request: PictureRequest, table: TableInfo) -> PlannedPicture | Refused | None:
        dimensions = find_dimensions(request.subject, table)
        rest = dimensions[0].rest if dimensions else request.subject
        counted = _counted_values(rest, table, alone=not dimensions) if len(dimensions) < 2 else None
        if counted is not None:
            dimensions = [*dimensions, counted]
            measured = await self._rows(owner_id, counted.rest, table)
        else:
            if request.over_time or any(dimension.column is None for dimension in dimensions):
                rest = _without_dates(rest, table)
            measured = await self._measure(owner_id, rest, table)
        if not isinstance(measured, Planned):
            return measured or _not_understood(rest, table)
        query = measured.plan.query
        if query.groups:
            return _planned(request, measured, query)
        return await self._drawn(owner_id, request, measured, dimensions)

    async def _drawn(
        self, owner_id: str, request: PictureRequest, measured: Planned, dimensions: Sequence[Dimension]
    ) -> PlannedPicture | Refused:
        """The figure by what the request names, else by time or the names of the rows, else how often it is in each range."""
        table = measured.plan.table
        query = await self._with_rows_counted(owner_id, table, measured.plan.query)
        column = next((c for c in table.columns if c.name == query.aggregates[0].column), None)
        if request.form is Form.HISTOGRAM and not dimensions and column is not None:
            return await self._histogram(owner_id, request, measured, column)
        groups = [await self._group(owner_id, dimension, table) for dimension in dimensions[:2]]
        if not groups:
            if query.aggregates[0].function is Function.COUNT and not request.over_time:
                return _nothing_to_draw_by(table)
            time = await self._time_column(owner_id, table) if request.over_time else await self._label(owner_id, table)
            if time is None and request.over_time:
                return Refused(f"{table_name(table)} has no column for time", computes=True)
            if time is None and column is not None:
                return await self._histogram(owner_id, request, measured, column)
            groups = [await self._group(owner_id, Dimension("", time), table)] if time is not None else []
        known = [group for group in groups if group is not None]
        if not known or len(known) < len(groups):
            return _nothing_to_draw_by(table)
        return _planned(request, measured, await self._grouped(owner_id, table, query, known))

    async def _measure(self, owner_id: str, rest: str, table: TableInfo) -> Planned | Refused | None:
        """The figure that the words ask for, or that they most likely mean: what they say, else a total, else a count of rows."""
        several = await self._several(owner_id, rest, table)
        if several is not None:
            return several
        refused: Refused | None = None
        for words in (rest, f"total {rest}"):
            found = await self._planner.consider(owner_id, words, (table,))
            if isinstance(found, Planned) and found.plan.query.aggregates:
                return found
            refused = refused or (found if isinstance(found, Refused) else None)
        for words in (f"total {_without_names(rest, table)}", f"number of {rest}"):
            found = await self._planner.consider(owner_id, words, (table,))
            if isinstance(found, Planned) and found.plan.query.aggregates:
                return found
        return refused

    async def _several(self, owner_id: str, rest: str, table: TableInfo) -> Planned | None:
        """`revenue and expenses`: a total of each, over the rows that the other words leave."""
        question = wording.words(rest)
        named = [m for m in column_mentions(question, table) if m.whole and m.column.is_numeric]
        columns = list({m.column.name: m for m in named}.values())
        if not 2 <= len(columns) <= MAX_SERIES:
            return None
        taken = {i for m in named for i in range(m.first, m.last)}
        others = [w.text for i, w in enumerate(question) if i not in taken and w.norm not in ("and", "vs", "versus")]
        if any(wording.norm(word) in _FIGURES - _ADDED or wording.is_superlative(word) for word in others):
            return None
        first = " ".join(w.text for w in question[columns[0].first : columns[0].last])
        found = await self._planner.consider(owner_id, " ".join(["total", first, *others]), (table,))
        if not isinstance(found, Planned) or found.plan.query.groups or not found.plan.query.aggregates:
            return None
        query = found.plan.query
        conditions = tuple(c for c in query.conditions if c.comparison is not Comparator.NOT_EMPTY)
        aggregates = tuple(Aggregate(Function.SUM, m.column.name) for m in columns)
        return replace(
            found, plan=replace(found.plan, query=replace(query, conditions=conditions, aggregates=aggregates))
        )

    async def _rows(self, owner_id: str, rest: str, table: TableInfo) -> Planned | Refused | None:
        """How many rows there are, of those that the other words leave."""
        if not _telling(rest, table):
            return await self._planner.count_rows(owner_id, table)
        found = await self._planner.consider(owner_id, f"how many {rest}", (table,))
        if not isinstance(found, Planned):
            return found
        query = found.plan.query
        return found if not query.groups and query.aggregates == (Aggregate(Function.COUNT),) else None

    async def _with_rows_counted(self, owner_id: str, table: TableInfo, query: TableQuery) -> TableQuery:
        """Loans that are counted by their numbers are rows where each has a number of its own; numbers of loans are never added up."""
        [one, *others] = query.aggregates
        is_count = one.function is Function.COUNT_DISTINCT
        if (
            others
            or one.column is None
            or not (is_count or (one.function is Function.SUM and is_numbering(one.column)))
        ):
            return query
        repeats = await self._repeats(owner_id, table, ColumnRef(one.column), query.conditions)
        counted = Aggregate(Function.COUNT_DISTINCT, one.column) if repeats else Aggregate(Function.COUNT)
        return replace(query, aggregates=(counted,))

    async def _group(self, owner_id: str, dimension: Dimension, table: TableInfo) -> ColumnRef | None:
        column, part = dimension.column, dimension.part
        if column is None:
            dated = date_columns(table)
            column = (
                dated[0] if len(dated) == 1 else None if part is not None else await self._time_column(owner_id, table)
            )
        if column is None:
            return None
        if not column.is_dated:
            return ColumnRef(column.name)
        return ColumnRef(column.name, part or await self._part(owner_id, table, column))

    async def _part(self, owner_id: str, table: TableInfo, column: TableColumn) -> DatePart:
        """The finest part of its dates that is still few enough to be drawn."""
        first, last = await self._ends(owner_id, table, column, ())
        if not isinstance(first, date) or not isinstance(last, date):
            return DatePart.YEAR
        days = (_day(last) - _day(first)).days
        return next((part for most, part in _DAYS if days <= most), DatePart.YEAR)

    async def _time_column(self, owner_id: str, table: TableInfo) -> TableColumn | None:
        """The one column of dates, else the first whose every value is a time."""
        dated = date_columns(table)
        if dated:
            return dated[0] if len(dated) == 1 else None
        for column in table.columns:
            if column.kind in ("text", "integer"):
                values = await self._engine.distinct(owner_id, table, column.name, MAX_POINTS)
                if values and moments(values) is not None:
                    return column
        return None

    async def _label(self, owner_id: str, table: TableInfo) -> TableColumn | None:
        """The first column whose texts or dates name the rows, if there are few enough of them to draw."""
        if table.rows > MAX_BARS:
            return None
        for column in table.columns:
            if (
                column.kind in ("text", "date")
                and await self._repeats(owner_id, table, ColumnRef(column.name), ()) is False
            ):
                return column
        return None

    async def _repeats(
        self, owner_id: str, table: TableInfo, ref: ColumnRef, conditions: tuple[RowCondition, ...]
    ) -> bool:
        """Whether several rows have the same value."""
        counts = (Aggregate(Function.COUNT, ref.column), Aggregate(Function.COUNT_DISTINCT, ref.column))
        query = TableQuery(source=table_key(table), conditions=conditions, aggregates=counts)
        values = (await self._engine.run(owner_id, table, query)).rows[0].values
        return values[0] != values[1]

    async def _grouped(
        self, owner_id: str, table: TableInfo, query: TableQuery, groups: Sequence[ColumnRef]
    ) -> TableQuery:
        """The measured query by groups. Of several rows, what is not added up is averaged."""
        aggregates = query.aggregates
        if any(a.function is Function.SUM and not _is_added(a.column or "") for a in aggregates):
            single = len(groups) == 1 and groups[0].part is None
            if not single or await self._repeats(owner_id, table, groups[0], query.conditions):
                aggregates = tuple(replace(a, function=Function.AVG) for a in aggregates)
        filled = tuple(RowCondition(ColumnRef(group.column), Comparator.NOT_EMPTY) for group in groups)
        by_time = groups[0].part is not None
        order = Order(groups[0].name) if by_time else Order(aggregates[0].name, descending=True)
        return TableQuery(
            source=table_key(table),
            conditions=(*query.conditions, *filled),
            groups=tuple(groups),
            aggregates=aggregates,
            order=(order,),
            limit=MAX_ROWS,
        )

    async def _histogram(
        self, owner_id: str, request: PictureRequest, measured: Planned, column: TableColumn
    ) -> PlannedPicture | Refused:
        query = await histogram_query(
            self._engine, owner_id, measured.plan.table, column, measured.plan.query.conditions
        )
        if query is None:
            return Refused(f"{core_name(column.name)} has no different numbers to draw", computes=True)
        return _planned(request, measured, query)

    async def _ends(
        self, owner_id: str, table: TableInfo, column: TableColumn, conditions: tuple[RowCondition, ...]
    ) -> tuple[object, object]:
        return await _ends(self._engine, owner_id, table, column, conditions)


async def histogram_query(
    engine: TableEngine,
    owner_id: str,
    table: TableInfo,
    column: TableColumn,
    conditions: tuple[RowCondition, ...],
) -> TableQuery | None:
    """How many rows lie in each of some ranges with round ends; None for a column without different numbers."""
    low, high = await _ends(engine, owner_id, table, column, conditions)
    if not column.is_numeric or not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    width = _round_width(float(low), float(high), table.rows)
    if width is None or (column.kind == "integer" and width < 1):
        width = 1.0 if column.kind == "integer" and high > low else None
    if width is None:
        return None
    group = ColumnRef(column.name, bin=width)
    return TableQuery(
        source=table_key(table),
        conditions=(*conditions, RowCondition(ColumnRef(column.name), Comparator.NOT_EMPTY)),
        groups=(group,),
        aggregates=(Aggregate(Function.COUNT),),
        order=(Order(group.name),),
        limit=MAX_ROWS,
    )


async def _ends(
    engine: TableEngine, owner_id: str, table: TableInfo, column: TableColumn, conditions: tuple[RowCondition, ...]
) -> tuple[object, object]:
    ends = (Aggregate(Function.MIN, column.name), Aggregate(Function.MAX, column.name))
    query = TableQuery(source=table_key(table), conditions=conditions, aggregates=ends)
    low, high = (await engine.run(owner_id, table, query)).rows[0].values
    return low, high


def _round_width(low: float, high: float, rows: int) -> float | None:
    """About twice the cube root of the rows as ranges (Rice's rule), their width 1, 2 or 5 times a power of ten."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return None
    fewest, most = _RANGES
    wanted = (high - low) / min(max(2 * rows ** (1 / 3), fewest), most)
    power = 10.0 ** math.floor(math.log10(wanted))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= wanted * 0.999)
    return float(f"{width:.6g}")


def _planned(request: PictureRequest, measured: Planned, query: TableQuery) -> PlannedPicture:
    return PlannedPicture(measured.plan.table, query, Wish(form=request.form, asked=True), measured.left_out)


def _nothing_to_draw_by(table: TableInfo) -> Refused:
    return Refused(f"{table_name(table)} has no column to draw it by", computes=True)


def _counted_values(words: str, table: TableInfo, *, alone: bool) -> Dimension | None:
    """`status`, `status in Accra`: a column without numbers that is named and not measured, so that rows are counted by its values.

    alone: nothing else is named to draw by, so that a number of its values is meant for each of them.
    """
    question = wording.words(words)
    mentions = column_mentions(question, table)
    if any(m.column.is_numeric and not is_numbering(m.column.name) for m in mentions):
        return None
    named = [m for m in mentions if m.whole and not m.column.is_numeric]
    if len(named) != 1:
        return None
    others = [w for i, w in enumerate(question) if not named[0].first <= i < named[0].last]
    if alone:
        others = [w for w in others if w.norm not in _COUNTS]
    if any(w.norm in _COUNTS | _FIGURES or wording.is_superlative(w.text) for w in others):
        return None
    return Dimension(" ".join(w.text for w in others), named[0].column)


def _telling(words: str, table: TableInfo) -> bool:
    """Whether the words say more than what rows are called."""
    return any(word.norm not in wording.FILLERS | names_of_table(table) for word in wording.words(words))


def _not_understood(words: str, table: TableInfo) -> Refused | None:
    """Why nothing is drawn of figures that are named, as of `amount by colour` where no column has colours."""
    question = wording.words(words)
    mentions = column_mentions(question, table)
    taken = {i for m in mentions for i in range(m.first, m.last)}
    if any(first not in taken for phrase in wording.GROUPING for first in wording.find_phrase(question, phrase)):
        return _nothing_to_draw_by(table)
    if any(m.whole and m.column.is_numeric for m in mentions):
        return Refused(f"it is not clear what of {table_name(table)} is to be drawn", computes=True)
    return None


def _without_names(words: str, table: TableInfo) -> str:
    """`loan amounts` of a sheet of loans are its amounts; a word that is a column's whole name stays."""
    question = wording.words(words)
    names = names_of_table(table) - wording.FILLERS
    whole = {i for m in column_mentions(question, table) if m.whole for i in range(m.first, m.last)}
    return " ".join(w.text for i, w in enumerate(question) if i in whole or w.norm not in names) or words


def _without_dates(words: str, table: TableInfo) -> str:
    """`disbursed amount`, drawn by time: the dates are what it is drawn by, and the amount is measured."""
    question = wording.words(words)
    dated = [m for m in column_mentions(question, table) if m.column.is_dated]
    kept = [w.text for i, w in enumerate(question) if not any(m.first <= i < m.last for m in dated)]
    return " ".join(kept) or words


def _is_added(column: str) -> bool:
    """Whether a total of the column means anything: not of rates, prices or percentages."""
    words = set(wording.norms(core_name(column)))
    return not words & _NOT_ADDED and "%" not in column and not unit_words(column) & {"percent", "%"}


def _best_named(question: Sequence[wording.QuestionWord], plans: list[PlannedPicture]) -> list[PlannedPicture]:
    """The plans whose table the question names most of by sheet or file."""
    norms = {word.norm for word in question} - wording.FILLERS
    named = [len(norms & names_of_table(plan.table)) for plan in plans]
    return [plan for plan, count in zip(plans, named, strict=True) if count == max(named)]


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment
