"""Plans: one typed query each and the form of its answer, and those that all kinds of questions share, by groups."""

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
