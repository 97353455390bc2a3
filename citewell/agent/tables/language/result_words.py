"""Words that all answers from tables share: figures, conditions, differences, and lines with their citations."""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, cast

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.tables.language.links import unit_of
from citewell.agent.tables.language.sentences import at, figure
from citewell.agent.tables.language.shape import Plan
from citewell.agent.tables.query.typed import Comparator, DatePart, Function, Part, RowCondition, TableQuery
from citewell.agent.tables.run.engine import ResultRow, table_name
from citewell.agent.tables.run.results import AVERAGES, condition_value, rounded_number, shown, to_decimals
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN

_COMPARISONS = {
    Comparator.EQ: "is",
    Comparator.NE: "is not",
    Comparator.LT: "is under",
    Comparator.LTE: "is at most",
    Comparator.GT: "is over",
    Comparator.GTE: "is at least",
    Comparator.IN: "is one of",
    Comparator.NOT_IN: "is none of",
    Comparator.CONTAINS: "contains",
    Comparator.STARTS_WITH: "begins with",
    Comparator.EMPTY: "is empty",
    Comparator.NOT_EMPTY: "is filled in",
}
_TIMES: dict[Part | None, str] = {DatePart.YEAR: "in", DatePart.QUARTER: "in", DatePart.MONTH: "in", DatePart.DAY: "on"}


def conditions_text(query: TableQuery) -> str:
    """` where Status is overdue and Amount (GHS) is over 5000`; empty without conditions.

    Not that there is a value in what is shown, measured, grouped or ordered by, which goes without saying.
    """
    groups, aggregates = (
        (group.column for group in query.groups),
        (one.column for one in query.aggregates if one.column),
    )
    named = {*query.columns, *groups, *aggregates, *(order.by for order in query.order)}
    measured = named | {safe_text(name) for name in named}  # in conditions they may be written safely already
    parts = [
        _condition_words(c)
        for c in query.conditions
        if c.ref.column != ROW_COLUMN and (c.comparison is not Comparator.NOT_EMPTY or c.ref.column not in measured)
    ]
    return f" where {' and '.join(parts)}" if parts else ""


def _condition_words(condition: RowCondition) -> str:
    """`Status is overdue`, `Disbursed is in March 2025`, `Note is “has a cat”`."""
    column, comparison, part = condition.ref.column, condition.comparison, condition.ref.part
    if (
        part in _TIMES
        and comparison in (Comparator.EQ, Comparator.IN)
        and len(condition.values) <= THRESHOLDS.listed_values
    ):
        return f"{column} is {_TIMES[part]} {' or '.join(_time_words(shown(value)) for value in condition.values)}"
    return f"{column} {_COMPARISONS[comparison]} {condition.than or _compared(condition)}".strip()


def _time_words(time: str) -> str:
    """`2025-03` as `March 2025`, `2025-Q1` as `Q1 2025`; years and days as they are."""
    year, _, within = time.partition("-")
    if within.startswith("Q"):
        return f"{within} {year}"
    return f"{calendar.month_name[int(within)]} {year}" if within.isdigit() else time


def _compared(condition: RowCondition) -> str:
    if isinstance(condition.value, str) and " " in condition.value and condition.value[:1].islower():
        return f"“{condition.value}”"
    many = len(condition.values) > THRESHOLDS.listed_values
    return value_words(condition.value) if many else condition_value(condition)


def value_words(value: Any) -> str:
    """A value of a condition; of many values their number."""
    if isinstance(value, tuple) and len(cast(tuple[Any, ...], value)) > THRESHOLDS.listed_values:
        return f"{len(cast(tuple[Any, ...], value))} values"
    return ", ".join(map(shown, value)) if isinstance(value, tuple) else shown(value)


def sheet_words(plan: Plan) -> str:
    """The sheet, or the file that is one table, in quotation marks."""
    return f"“{plan.table.sheet or table_name(plan.table)}”"


def is_missing(value: Any) -> bool:
    """An empty cell, or the NaN of a Parquet file, which is neither high nor low."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def exact(value: Any) -> Any:
    """A float as the decimal number that it is shown as."""
    return Decimal(str(value)) if isinstance(value, float) else value


def cited_lines(rows: Sequence[ResultRow], numbers: Sequence[int], words: Callable[[ResultRow], str]) -> list[str]:
    """One line a row; a row past those that are cited has no marker."""
    marks = [f" [{n}]" for n in numbers] + [""] * len(rows)
    lead = "- " if len(rows) > 1 else ""
    return [f"{lead}{words(row)}{mark}" for row, mark in zip(rows, marks, strict=False)]


def named_figure(plan: Plan, row: ResultRow) -> str:
    """`Accra: 12`, or the figure alone where the row has no name."""
    value = row.values[-1]
    counts = plan.function in (Function.COUNT, Function.COUNT_DISTINCT)
    text = shown(value) if counts or plan.metric is None else figure(rounded_figure(plan, value), plan.metric.name)
    return text if len(row.values) == 1 else f"{shown(row.values[0]) or '(empty)'}: {text}"


def rounded_figure(plan: Plan, value: Any) -> Any:
    """An average as people write it: two decimals, of one below 1 four digits, of a column that shows more of them these. What is cited has them all."""
    if plan.function not in AVERAGES:
        return value
    return to_decimals(rounded_number(value), plan.metric.decimals if plan.metric is not None else 0)


def valued(plan: Plan, value: Any) -> str:
    """A figure with the unit of the column that it is measured in."""
    counts = plan.function in (Function.COUNT, Function.COUNT_DISTINCT)
    return shown(value) if counts or plan.metric is None else figure(rounded_figure(plan, value), plan.metric.name)


def difference_words(plan: Plan, value: Any) -> str:
    """A difference in the unit of its column."""
    value = to_decimals(value, plan.metric.decimals if plan.metric is not None else 0)
    if plan.metric is not None and unit_of(plan.metric.name) == "%":
        return f"{shown(rounded_figure(plan, value))} percentage points"
    return figure(rounded_figure(plan, value), plan.metric.name) if plan.metric is not None else shown(value)


def percent_more(plan: Plan, base: tuple[Any, Any, int], other: tuple[Any, Any, int]) -> str:
    """`: 61.6% more than in Q1 2025`; why not, where a figure is not above zero: of that nothing is a percentage."""
    (start, named, _), (end, _, _) = base, other
    if start <= 0 or end < 0:
        return f"; a change from {valued(plan, start)} to {valued(plan, end)} has no percentage"
    share = round(100 * abs(exact(end) - exact(start)) / exact(start), 1)
    return f": {shown(share)}% {'more' if end > start else 'less'} than {at(shown(named))}"
