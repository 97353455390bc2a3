"""From a meaning to a plan: one typed query, and the form of its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from citewell.agent.tables.language.links import unit_of
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.meaning.meaning import Meaning
from citewell.agent.tables.meaning.view import ColumnView
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    Order,
    Part,
    RowCondition,
    TableQuery,
    TextValue,
)
from citewell.agent.tables.run.engine import table_key
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN, TableColumn, TableInfo
from citewell.types.table_reading import ColumnRole, GroupFigure, RowOperation

_FUNCTIONS = {
    GroupFigure.NONE: Function.SUM,
    GroupFigure.COUNT: Function.COUNT,
    GroupFigure.SUM: Function.SUM,
    GroupFigure.AVERAGE: Function.AVG,
    GroupFigure.MIN: Function.MIN,
    GroupFigure.MAX: Function.MAX,
}


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table to plan for. label: the column that names its rows; time: the one that says when."""

    info: TableInfo
    label: TableColumn | None
    time: TableColumn | None

    def column(self, name: str) -> TableColumn:
        """The column of this name."""
        return next(column for column in self.info.columns if column.name == name)


def plan_of(meaning: Meaning, table: PlannedTable) -> Plan | None:
    """The plan; None where the meaning lacks what its operation needs."""
    return _PLANS[meaning.operation](_Planner(meaning, table))


class _Planner:
    """What all plans of a meaning share."""

    def __init__(self, meaning: Meaning, table: PlannedTable) -> None:
        self.meaning = meaning
        self.table = table

    def columns(self, role: ColumnRole) -> tuple[ColumnView, ...]:
        return self.meaning.columns(role)

    def first(self, role: ColumnRole) -> ColumnView | None:
        return next(iter(self.columns(role)), None)

    def info(self, view: ColumnView | None) -> TableColumn | None:
        return None if view is None else self.table.column(view.name)

    def filled(self, *views: ColumnView | None) -> tuple[RowCondition, ...]:
        """The conditions, and that there is a value in each of these columns."""
        more = (RowCondition(ColumnRef(view.name), Comparator.NOT_EMPTY) for view in views if view is not None)
        return (*self.meaning.conditions, *more)

    def query(
        self,
        *,
        columns: Sequence[str] = (),
        conditions: tuple[RowCondition, ...] | None = None,
        groups: tuple[ColumnRef, ...] = (),
        aggregates: tuple[Aggregate, ...] = (),
        order: tuple[Order, ...] = (),
        limit: int = MAX_ROWS,
    ) -> TableQuery:
        return TableQuery(
            source=table_key(self.table.info),
            columns=tuple(dict.fromkeys(columns)),
            conditions=self.meaning.conditions if conditions is None else conditions,
            groups=groups,
            aggregates=aggregates,
            order=order,
            limit=limit,
        )

    def measured(self, measure: ColumnView | None) -> tuple[Function, Aggregate, TableColumn | None]:
        """The figure of each group, as a function, an aggregate and the column that it is of: of rows, how many there are."""
        function = Function.COUNT if measure is None else _FUNCTIONS[self.meaning.figure]
        return function, _aggregate(function, measure), None if function is Function.COUNT else self.info(measure)

    def plan(self, shape: Shape, query: TableQuery, **more: object) -> Plan:
        return replace(Plan(shape=shape, table=self.table.info, query=query), **more)  # type: ignore[arg-type]


def _part(view: ColumnView) -> Part | None:
    return view.ref.part if isinstance(view.ref.part, TextValue) else None


def _aggregate(function: Function, view: ColumnView | None) -> Aggregate:
    """Of the column's values; without one, or to count, of rows."""
    return (
        Aggregate(Function.COUNT)
        if view is None or function is Function.COUNT
        else Aggregate(function, view.name, _part(view))
    )


def _rows(made: _Planner) -> Plan | None:
    """Cells of the rows that meet the conditions."""
    asked = made.columns(ColumnRole.ANSWER)
    if not made.meaning.conditions:
        return None
    label = made.table.label
    names = [view.name for view in asked]
    if not names and label is not None and label.name not in made.meaning.fixed:
        names = [label.name]
    if not names:
        return made.plan(Shape.ROWS, made.query(), subject=label)
    if made.meaning.operation is RowOperation.FILTER and len(names) == 1 and (label is None or names[0] != label.name):
        return _values(made, names[0])
    shown = [label.name, *names] if label is not None else names
    query = made.query(columns=shown)
    if len(names) == 1:
        return made.plan(Shape.FOUND, query, asked=made.table.column(names[0]), subject=label)
    return made.plan(Shape.LOOKUP, query, subject=label)


def _values(made: _Planner, name: str) -> Plan:
    """The different values of a column that does not name the rows."""
    query = made.query(
        conditions=(*made.meaning.conditions, RowCondition(ColumnRef(name), Comparator.NOT_EMPTY)),
        groups=(ColumnRef(name),),
        aggregates=(Aggregate(Function.COUNT),),
    )
    return made.plan(Shape.VALUES, query, subject=made.table.column(name))


def _count(made: _Planner) -> Plan:
    return made.plan(Shape.COUNT, made.query(aggregates=(Aggregate(Function.COUNT),), limit=1))


def _exists(made: _Planner) -> Plan | None:
    if not made.meaning.conditions:
        return None
    return made.plan(Shape.EXISTS, made.query(aggregates=(Aggregate(Function.COUNT),), limit=1))


def _figure(made: _Planner) -> Plan | None:
    """One figure over all rows that meet the conditions."""
    measure = made.first(ColumnRole.MEASURE)
    functions = {
        RowOperation.SUM: Function.SUM,
        RowOperation.AVERAGE: Function.AVG,
        RowOperation.DISTINCT: Function.COUNT_DISTINCT,
    }
    if measure is None:
        return None
    function = functions[made.meaning.operation]
    query = made.query(conditions=made.filled(measure), aggregates=(_aggregate(function, measure),), limit=1)
    return made.plan(Shape.FIGURE, query, metric=made.info(measure), function=function)


def _ranked(made: _Planner) -> Plan | None:
    """The highest or lowest rows or groups."""
    meaning = made.meaning
    best = meaning.limit if meaning.operation is RowOperation.TOP else 1
    shape = Shape.TOP if best > 1 else Shape.EXTREME
    measure, group = made.first(ColumnRole.MEASURE), made.first(ColumnRole.GROUP)
    if group is not None:
        function, aggregate, metric = made.measured(measure)
        query = made.query(
            conditions=made.filled(group),
            groups=(ColumnRef(group.name),),
            aggregates=(aggregate,),
            order=(Order(aggregate.name, meaning.descending),),
            limit=best + THRESHOLDS.spare_rows,
        )
        return made.plan(
            shape,
            query,
            metric=metric,
            subject=made.info(group),
            function=function,
            descending=meaning.descending,
            best=best,
        )
    if measure is None:
        return None
    answer = made.info(made.first(ColumnRole.ANSWER)) or made.table.label
    if answer is not None and answer.name in meaning.fixed:
        return None
    subject = answer if answer is not None and answer.name != measure.name else None
    query = made.query(
        columns=[*([subject.name] if subject is not None else []), measure.name],
        conditions=made.filled(measure),
        order=(Order(measure.name, meaning.descending, _part(measure)),),
        limit=best + THRESHOLDS.spare_rows,
    )
    return made.plan(shape, query, metric=made.info(measure), subject=subject, descending=meaning.descending, best=best)


def _groups(made: _Planner) -> Plan | None:
    group, measure = made.first(ColumnRole.GROUP), made.first(ColumnRole.MEASURE)
    if group is None:
        return None
    function, aggregate, metric = made.measured(measure)
    query = made.query(
        conditions=made.filled(group),
        groups=(ColumnRef(group.name),),
        aggregates=(aggregate,),
        order=(Order(aggregate.name, True),),
    )
    return made.plan(Shape.GROUPS, query, metric=metric, subject=made.info(group), function=function)


def _pair(made: _Planner) -> Plan | None:
    """Two figures side by side: of two columns in one row or in all, or of two values of a column."""
    measures = made.columns(ColumnRole.MEASURE)
    if len(measures) == 2:
        return _cells(made, measures, percent=made.meaning.percent)
    if made.meaning.compared is None:
        return None
    view, values = made.meaning.compared
    measure = measures[0] if measures else None
    function, aggregate, metric = made.measured(measure)
    ref = next(c.ref for c in made.meaning.conditions if c.ref.column == view.name)
    query = made.query(groups=(ref,), aggregates=(aggregate,), conditions=made.filled(measure))
    return made.plan(
        Shape.COMPARE,
        query,
        metric=metric,
        subject=made.info(view),
        function=function,
        expected=len(values),
        percent_of=values[0] if made.meaning.percent else "",
    )


def _cells(made: _Planner, measures: Sequence[ColumnView], *, percent: bool) -> Plan | None:
    """Figures of several columns: cells of one row, else their sums over the rows."""
    if len({_unit(made.table.column(one.name)) for one in measures}) > 1:
        return None  # kilowatt-hours are not compared with money
    metric, summed = made.info(measures[0]), made.meaning.figure in (GroupFigure.SUM, GroupFigure.AVERAGE)
    if summed or not made.meaning.conditions:
        function = Function.AVG if made.meaning.figure is GroupFigure.AVERAGE else Function.SUM
        query = made.query(aggregates=tuple(_aggregate(function, one) for one in measures), limit=1)
        return made.plan(
            Shape.CELLS, query, metric=metric, function=function, percent_of=measures[0].name if percent else ""
        )
    label = made.table.label
    names = [*([label.name] if label is not None else []), *(one.name for one in measures)]
    query = made.query(columns=names, limit=2)
    return made.plan(
        Shape.CELLS, query, metric=metric, subject=label, expected=1, percent_of=measures[0].name if percent else ""
    )


def _unit(column: TableColumn) -> str:
    return column.unit or unit_of(column.name)


def _share(made: _Planner) -> Plan | None:
    """What the rows of some values of a column have of all."""
    part, measure = made.meaning.part, made.first(ColumnRole.MEASURE)
    if len(part) != 1:
        return None
    (condition,) = part
    function = Function.COUNT if measure is None or made.meaning.figure is GroupFigure.COUNT else Function.SUM
    aggregate = _aggregate(function, measure)
    query = made.query(groups=(condition.ref,), aggregates=(aggregate,), order=(Order(aggregate.name, True),))
    metric = None if function is Function.COUNT else made.info(measure)
    return made.plan(
        Shape.PART,
        query,
        metric=metric,
        subject=made.table.column(condition.ref.column),
        function=function,
        parts=tuple(map(str, condition.values)),
    )


def _trend(made: _Planner) -> Plan | None:
    """How a figure developed, row by row or from column to column."""
    measures = made.columns(ColumnRole.MEASURE)
    if len(measures) > 1:
        return _cells(made, measures, percent=False)
    time = made.info(made.first(ColumnRole.ANSWER)) or made.table.time
    if not measures or time is None or time.name == measures[0].name:
        return None
    function = Function.AVG if made.meaning.figure is GroupFigure.AVERAGE else Function.SUM
    query = made.query(
        conditions=made.filled(measures[0]),
        groups=(ColumnRef(time.name),),
        aggregates=(_aggregate(function, measures[0]),),
        order=(Order(time.name if time.kind != "text" else ROW_COLUMN),),
    )
    return made.plan(Shape.SERIES, query, metric=made.info(measures[0]), subject=time, function=function)


_PLANS: dict[RowOperation, Callable[[_Planner], Plan | None]] = {
    RowOperation.LOOKUP: _rows,
    RowOperation.FILTER: _rows,
    RowOperation.COUNT: _count,
    RowOperation.EXISTS: _exists,
    RowOperation.DISTINCT: _figure,
    RowOperation.SUM: _figure,
    RowOperation.AVERAGE: _figure,
    RowOperation.EXTREME: _ranked,
    RowOperation.TOP: _ranked,
    RowOperation.GROUP: _groups,
    RowOperation.DIFFERENCE: _pair,
    RowOperation.CHANGE: _pair,
    RowOperation.COMPARE: _pair,
    RowOperation.SHARE: _share,
    RowOperation.TREND: _trend,
}
