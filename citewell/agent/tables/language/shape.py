"""Plans: one typed query each, and the form of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from citewell.agent.tables.query.typed import (
    Function,
    TableQuery,
)
from citewell.types import TableColumn, TableInfo


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
    VALUES = "values"
    EXISTS = "exists"
    CELLS = "cells"
    PART = "part"
    SERIES = "series"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A query and how to word its result.

    subject: the column whose values name the result's rows; metric: the column measured; best: n of "top n", 1 for "which";
    expected: how many rows the result must have; asked: the column whose cells are the answer, where rows are found;
    percent_of: the value of the subject, or the column, that a difference is given in percent of, too;
    parts: values of the subject whose share of the metric, or of the rows, is asked for.
    """

    shape: Shape
    table: TableInfo
    query: TableQuery
    metric: TableColumn | None = None
    subject: TableColumn | None = None
    function: Function | None = None
    descending: bool = True
    best: int = 1
    expected: int | None = None
    asked: TableColumn | None = None
    percent_of: str = ""
    parts: tuple[str, ...] = ()
