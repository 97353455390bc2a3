"""Words answers that set figures side by side: of columns, over time, as a share of a whole, and whether there is a row at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from citewell.agent.tables.language.result_words import (
    cited_lines,
    conditions_text,
    difference_words,
    exact,
    is_missing,
    named_figure,
    percent_more,
    sheet_words,
    value_words,
)
from citewell.agent.tables.language.sentences import at, figure, title
from citewell.agent.tables.language.shape import Plan
from citewell.agent.tables.query.typed import Function
from citewell.agent.tables.run.engine import TableResult
from citewell.agent.tables.run.results import format_number, shown


def exists_words(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    """`Yes, 3 rows in “Loans” where Status is overdue [1].`"""
    count = int(result.rows[0].values[0])
    where = f"in {sheet_words(plan)}{conditions_text(plan.query)} [{numbers[0]}]"
    if not count:
        return f"No, there is no row {where}."
    return f"Yes, there {'is 1 row' if count == 1 else f'are {format_number(count)} rows'} {where}."


def cells_words(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    """Figures of several columns side by side: of two how far they are apart, of more how they developed."""
    row = result.rows[0]
    named = plan.subject is not None and plan.subject.name == result.columns[0]
    names, values = result.columns[named:], row.values[named:]
    if any(is_missing(value) or isinstance(value, str) for value in values):
        return None
    owner = f" {at(shown(row.values[0]))}" if named else conditions_text(plan.query)
    pairs = [(_column_of(name), figure(value, _column_of(name))) for name, value in zip(names, values, strict=True)]
    lead = "Total: " if plan.function is Function.SUM else "Average: " if plan.function is Function.AVG else ""
    listed = "; ".join(f"{title(name)} {text}" for name, text in pairs)
    first, last = exact(values[0]), exact(values[-1])
    more = (
        _developed(first, last, plan)
        if len(values) > 2
        else f"a difference of {difference_words(plan, abs(last - first))}"
    )
    if len(values) == 2 and plan.percent_of:
        more += (
            percent_more(plan, (first, pairs[0][0], 0), (last, pairs[1][0], 0))
            .replace(" than in ", " than ")
            .replace(" than for ", " than ")
        )
    return f"{lead}{listed}{owner}, {more} [{numbers[0]}]."


def part_words(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    """`Amount for Travel: GHS 300 of GHS 1,200, which is 25% [1].`, or `Status is overdue in 6 of 40 rows in “Loans”, which is 15% [1].`"""
    if plan.subject is None or len(result.rows) == result.query.limit:
        return None
    values = [exact(row.values[-1] or 0) for row in result.rows]
    places = [i for i, row in enumerate(result.rows) if shown(row.values[0]) in plan.parts]
    if not places or max(places) >= len(numbers) or any(value < 0 for value in values) or not sum(values):
        return None
    some, total = sum(values[i] for i in places), sum(values)
    parts, where = value_words(plan.parts), conditions_text(plan.query)
    share = f"which is {shown(round(100 * some / total, 1))}% {''.join(f'[{numbers[i]}]' for i in places)}."
    if plan.metric is None:
        rows = f"{shown(some)} of {shown(total)} rows in {sheet_words(plan)}{where}"
        return f"{plan.subject.name} is {parts} in {rows}, {share}"
    of, whole = (figure(value, plan.metric.name) for value in (some, total))
    return f"{title(plan.metric.name)} {at(parts)}: {of} of {whole}{where}, {share}"


def series_words(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    """How a figure developed: from where to where, then each value."""
    rows = [row for row in result.rows if not is_missing(row.values[-1])]
    if len(rows) < 2 or plan.metric is None or any(isinstance(row.values[-1], str) for row in rows):
        return None
    first, last = rows[0], rows[-1]
    name = plan.metric.name
    verb = (
        "stayed the same"
        if first.values[-1] == last.values[-1]
        else "rose"
        if last.values[-1] > first.values[-1]
        else "fell"
    )
    ends = f"from {figure(first.values[-1], name)} {at(shown(first.values[0]))} to {figure(last.values[-1], name)} {at(shown(last.values[0]))}"
    more = _developed(exact(first.values[-1]), exact(last.values[-1]), plan)
    lead = f"{title(name)}{conditions_text(plan.query)} {verb} {ends}, {more}:"
    return "\n".join([lead, *cited_lines(rows, numbers, partial(named_figure, plan))])


def _column_of(name: str) -> str:
    """The column that an aggregate is of: `Gas (kWh)` of `sum(Gas (kWh))` and of `sum(number(Gas (kWh)))`."""
    found = re.fullmatch(r"(?:sum|avg)\((.*)\)", name)
    inner = found[1] if found else name
    return inner.removeprefix("number(")[:-1] if found and inner.startswith("number(") else inner


def _developed(first: Any, last: Any, plan: Plan) -> str:
    if first == last:
        return "the same at the end as at the beginning"
    apart = difference_words(plan, abs(last - first))
    share = f" ({shown(round(100 * abs(last - first) / first, 1))}%)" if first > 0 and last >= 0 else ""
    return f"{'up' if last > first else 'down'} by {apart}{share}"
