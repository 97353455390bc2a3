"""Plans: one typed query each and the form of its answer, and those that all kinds of questions share, by groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from citewell.agent.tables.language.metrics import CannotPlan
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.wording import Operation
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import table_key
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn, TableInfo

AGGREGATES = {
    Operation.SUM: Function.SUM,
    Operation.AVG: Function.AVG,
    Operation.MEDIAN: Function.MEDIAN,
}


class Shape(StrEnum):
    """What the answer looks like."""

    COUNT = "count"
    FIGURE = "figure"
    GROUPS = "groups"
    EXTREME = "extreme"
    TOP = "top"
    COMPARE = "compare"
    LOOKUP = "lookup"
    ROWS = "rows"
    FOUND = "found"
    WHOLE = "whole"
    VALUES = "values"
    SPAN = "span"
    SHARE = "share"
    EXISTS = "exists"
    CELLS = "cells"
    PART = "part"
    SERIES = "series"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A query and how to word its result.

    subject: the column whose values name the result's rows; metric: the column measured; best: n of "top n", 1 for "which";
    unique: columns that must not repeat among the rows for the answer to be unambiguous; expected: how many rows it must give;
    asked: the column whose cells are the answer, where rows are found, None where all their cells are shown; lead: in words how they were found;
    beside: whether they were found by another row that is named;
    unit: of a difference, where the column's name does not say it (`years`); percent_of: the value of the subject that it is given in percent of, too;
    part: the value of the subject whose share of the rows is asked for; parts: those whose share of the metric, or of the rows, is asked for;
    ranked: the result has rows beyond the best ones, in the order of the metric; adds_up: what its rows have of the metric is given in total, too.
    """

    shape: Shape
    table: TableInfo
    query: TableQuery
    metric: TableColumn | None = None
    subject: TableColumn | None = None
    function: Function | None = None
    descending: bool = True
    best: int = 1
    unique: tuple[str, ...] = ()
    expected: int | None = None
    asked: TableColumn | None = None
    lead: str = ""
    beside: bool = False
    unit: str = ""
    percent_of: str = ""
    part: str = ""
    parts: tuple[str, ...] = ()
    ranked: bool = False
    adds_up: bool = False


def grouped(reading: Reading, aggregate: Aggregate, metric: TableColumn | None) -> Plan:
    """One figure for each value of the column that the question groups by; `CannotPlan` where it names several."""
    if len(reading.groups) > 1:
        raise CannotPlan("it names more than one column to group by")
    group = reading.groups[0]
    ref = ColumnRef(group.name, reading.group_part)
    query = TableQuery(
        source=table_key(reading.words.table),
        conditions=tuple(reading.conditions),
        groups=(ref,),
        aggregates=(aggregate,),
        order=(Order(aggregate.name, True) if reading.group_part is None else Order(ref.name),),
        limit=MAX_ROWS,
    )
    return Plan(
        shape=Shape.GROUPS,
        table=reading.words.table,
        query=query,
        metric=metric,
        subject=group,
        function=aggregate.function,
    )


def ranked_groups(
    reading: Reading,
    subject: TableColumn,
    aggregate: Aggregate,
    metric: TableColumn | None,
    descending: bool,
    best: int,
) -> Plan:
    """The first `best` values of a column by one figure each."""
    query = TableQuery(
        source=table_key(reading.words.table),
        conditions=(*reading.conditions, RowCondition(ColumnRef(subject.name), Comparator.NOT_EMPTY)),
        groups=(ColumnRef(subject.name),),
        aggregates=(aggregate,),
        order=(Order(aggregate.name, descending),),
        limit=best + THRESHOLDS.spare_rows,
    )
    return Plan(
        shape=Shape.TOP if best > 1 else Shape.EXTREME,
        table=reading.words.table,
        query=query,
        metric=metric,
        subject=subject,
        function=aggregate.function,
        descending=descending,
        best=best,
    )
