"""Words the result of a planned query as an answer with citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, cast

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.tables.language.cells import number_in
from citewell.agent.tables.language.found_rows import found_rows
from citewell.agent.tables.language.result_words import (
    cited_lines,
    conditions_text,
    difference_words,
    exact,
    is_missing,
    named_figure,
    percent_more,
    rounded_figure,
    sheet_words,
    valued,
)
from citewell.agent.tables.language.sentences import at, figure, highest, marked, row_sentence, title, verb_of
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.language.side_by_side import cells_words, exists_words, part_words, series_words
from citewell.agent.tables.query.typed import Function
from citewell.agent.tables.run.engine import ResultRow, TableResult, table_name
from citewell.agent.tables.run.results import as_written, format_number, shown, with_decimals
from citewell.agent.tables.thresholds import THRESHOLDS

_FUNCTIONS = {
    Function.SUM: "total",
    Function.AVG: "average",
    Function.MEDIAN: "median",
    Function.MIN: "lowest",
    Function.MAX: "highest",
    Function.COUNT_DISTINCT: "number of different values",
}
_PLAIN = (None, Function.MAX, Function.MIN)


_SHOWN = frozenset({Shape.EXTREME, Shape.LOOKUP, Shape.ROWS, Shape.FOUND})
"""Answers whose cells are shown and not calculated with, so that they may be texts."""


def phrase(plan: Plan, result: TableResult, left_out: Sequence[int], numbers: Sequence[int]) -> str | None:
    """The answer, `[n]` being `numbers[i]` for result row i; None when the rows do not give the one answer that was planned."""
    if plan.expected is not None and len(result.rows) != plan.expected:
        return None
    if not result.rows:
        return None
    if plan.shape is Shape.COMPARE and all(row.rows.count == 1 for row in result.rows):
        plan = replace(plan, function=None)
    result = as_written(result) if plan.shape in _SHOWN else with_decimals(result)
    plan, result = (
        _quoted(plan),
        replace(result, columns=tuple(map(safe_text, result.columns)), rows=_quoted_rows(result)),
    )
    text = _SHAPES[plan.shape](plan, result, numbers)
    if left_out and text:
        rows = ", ".join(map(str, left_out))
        text += f"\nRow {rows} of {table_name(plan.table)}, a total of the others, is left out."
    return text


def _quoted(plan: Plan) -> Plan:
    """The plan with every name of the file's as an answer may show it: a column `Sales [2]` cites nothing."""
    table, query = plan.table, plan.query
    conditions = tuple(
        replace(
            c, ref=replace(c.ref, column=safe_text(c.ref.column)), value=_quoted_value(c.value), than=safe_text(c.than)
        )
        for c in query.conditions
    )
    return replace(
        plan,
        table=replace(
            table,
            filename=safe_text(table.filename),
            name=safe_text(table.name),
            sheet=table.sheet and safe_text(table.sheet),
        ),
        query=replace(query, conditions=conditions),
        metric=plan.metric and replace(plan.metric, name=safe_text(plan.metric.with_unit)),
        subject=plan.subject and replace(plan.subject, name=safe_text(plan.subject.with_unit)),
        asked=plan.asked and replace(plan.asked, name=safe_text(plan.asked.with_unit)),
        percent_of=safe_text(plan.percent_of),
    )


def _quoted_rows(result: TableResult) -> tuple[ResultRow, ...]:
    return tuple(replace(row, values=tuple(map(_quoted_value, row.values))) for row in result.rows)


def _quoted_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_quoted_value(part) for part in cast(tuple[Any, ...], value))
    return safe_text(value) if isinstance(value, str) else value


def _count(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    count = int(result.rows[0].values[0])
    if plan.subject is None:
        noun = "row" if count == 1 else "rows"
    else:
        noun = f"{'value' if count == 1 else 'different values'} of {plan.subject.name}"
    verb = "is" if count == 1 else "are"
    where = conditions_text(plan.query)
    return f"There {verb} {format_number(count)} {noun} in {sheet_words(plan)}{where} [{numbers[0]}]."


def _figure(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    row = result.rows[0]
    assert plan.metric is not None
    assert plan.function is not None
    where = conditions_text(plan.query)
    if row.values[0] is None:
        return f"No row{where} has a value in {plan.metric.name} [{numbers[0]}]."
    rows = f"{format_number(row.rows.count)} {'row' if row.rows.count == 1 else 'rows'}"
    name = _FUNCTIONS[plan.function]
    if plan.function is Function.COUNT_DISTINCT:
        return f"The {name} of {plan.metric.name} is {shown(row.values[0])}, over {rows}{where} [{numbers[0]}]."
    return f"The {name} of {title(plan.metric.name)} is {figure(rounded_figure(plan, row.values[0]), plan.metric.name)}, over {rows}{where} [{numbers[0]}]."


def _groups(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    assert plan.subject is not None
    name = (
        "Rows"
        if plan.metric is None
        else f"{_FUNCTIONS[plan.function or Function.SUM].capitalize()} of {title(plan.metric.name)}"
    )
    part = plan.query.groups[0].part
    by = plan.subject.name if part is None else part.value
    lead = f"{name} by {by}{conditions_text(plan.query)}:"
    return "\n".join([lead, *cited_lines(result.rows, numbers, partial(named_figure, plan))])


def _values(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    """The different values of a column, each with how many rows have it where that is not one everywhere."""
    assert plan.subject is not None
    counts = [int(row.values[-1]) for row in result.rows]
    where = conditions_text(plan.query)
    more = " or more" if len(result.rows) == result.query.limit else ""
    verb = "is" if len(counts) == 1 else "are"
    lead = f"There {verb} {format_number(len(counts))}{more} {'value' if len(counts) == 1 else 'different values'} of {plan.subject.name}{where}:"

    def line(row: ResultRow) -> str:
        rows = int(row.values[-1])
        return (
            shown(row.values[0])
            if max(counts) == 1
            else f"{shown(row.values[0])} ({rows} {'row' if rows == 1 else 'rows'})"
        )

    lines = cited_lines(result.rows, numbers, line)
    return "\n".join([lead, *(text if text.startswith("- ") else f"- {text}" for text in lines)])


def _extreme(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    best = result.rows[0].values[-1]
    if is_missing(best):
        return None
    tied = [i for i, row in enumerate(result.rows) if row.values[-1] == best]
    what = _measured(plan)
    where = conditions_text(plan.query)
    word = _end(plan)
    if len(tied) > THRESHOLDS.cited_rows:
        more = "more than " if len(tied) == len(result.rows) == result.query.limit else ""
        count = len(tied) - 1 if more else len(tied)
        marks = "".join(f"[{n}]" for n in numbers[:3])
        return f"The {word} {what}{where} is {shown(best)}, in {more}{count} rows {marks}."
    if plan.subject is None:
        marks = "".join(f"[{numbers[i]}]" for i in tied)
        return f"The {word} {what}{where} is {valued(plan, best)} {marks}."
    names = [shown(result.rows[i].values[0]) for i in tied]
    marks = [f" [{numbers[i]}]" for i in tied]
    if plan.metric is None:
        verb = "has" if len(tied) == 1 else "have"
        return f"{marked(names, marks)[0]} {verb} the {'most' if plan.descending else 'fewest'} rows{where}: {shown(best)}{marked(names, marks)[1]}."
    if plan.function is Function.COUNT_DISTINCT:
        most = f"{'has' if len(tied) == 1 else 'have'} the {'most' if plan.descending else 'fewest'} different values of {plan.metric.name}"
        return f"{marked(names, marks)[0]} {most}{where}: {shown(best)}{marked(names, marks)[1]}."
    column = what[:1].upper() + what[1:]
    return f"{highest(column, word, names, marks, valued(plan, best), where)}."


def _end(plan: Plan) -> str:
    """What a ranking begins with."""
    if plan.metric is not None and plan.metric.is_dated and plan.function in _PLAIN:
        return "latest" if plan.descending else "earliest"
    return "highest" if plan.descending else "lowest"


def _top(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    rows = result.rows[: plan.best]
    if len(result.rows) > plan.best and result.rows[plan.best].values[-1] == rows[-1].values[-1]:
        rows = [row for row in result.rows if not _beyond(row, rows[-1], plan.descending)]
    if len(rows) > THRESHOLDS.cited_rows or any(is_missing(row.values[-1]) for row in rows):
        return None
    lead = f"The {len(rows)} {_end(plan)} by {title(_measured(plan))}{conditions_text(plan.query)}:"
    return "\n".join([lead, *cited_lines(rows, numbers, partial(named_figure, plan))])


def _compare(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    if any(is_missing(row.values[-1]) for row in result.rows):
        return None
    if len({type(row.values[-1]) for row in result.rows} & {str}):
        result = replace(result, rows=tuple(_with_number(row) for row in result.rows))
    if len(result.rows) == 2:
        return _two(plan, result, numbers)
    lead = f"{_measured(plan)}:" if plan.function is not None else f"{plan.metric.name if plan.metric else ''}:"
    return "\n".join([f"{lead[:1].upper()}{lead[1:]}", *cited_lines(result.rows, numbers, partial(named_figure, plan))])


def _two(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    """`Amount was higher for Accra, GHS 300 [1], than for Kumasi, GHS 100 [2], a difference of GHS 200.`"""
    (first, a), (second, b) = ((row.values[0], row.values[-1]) for row in result.rows)
    what = (
        "The number of rows"
        if plan.metric is None
        else title(plan.metric.name)
        if plan.function in _PLAIN
        else _measured(plan)
    )
    what = what[:1].upper() + what[1:]
    verb = verb_of(what)
    others = [c for c in plan.query.conditions if plan.subject is None or c.ref.column != plan.subject.name]
    where = conditions_text(replace(plan.query, conditions=tuple(others)))
    if a == b:
        return f"{what}{where} {verb} the same, {valued(plan, a)}, {at(shown(first))} [{numbers[0]}] and {shown(second)} [{numbers[1]}]."
    ends = [(a, first, numbers[0]), (b, second, numbers[1])]
    dated = not isinstance(a, int | float | Decimal)
    low_first = dated or not plan.descending
    (x, ahead, m), (y, behind, n) = sorted(ends, key=lambda end: end[0], reverse=not low_first)
    word = "earlier" if dated else "lower" if low_first else "higher"
    if dated and plan.descending:
        (x, ahead, m), (y, behind, n), word = (y, behind, n), (x, ahead, m), "later"
    apart = (
        f", a difference of {difference_words(plan, abs(exact(x) - exact(y)))}"
        if isinstance(a, int | float | Decimal)
        else ""
    )
    if plan.percent_of:
        based = next((end for end in ends if shown(end[1]) == plan.percent_of), ends[0])
        apart += percent_more(plan, based, next(end for end in ends if end is not based))
    return f"{what}{where} {verb} {word} {at(shown(ahead))}, {valued(plan, x)} [{m}], than {at(shown(behind))}, {valued(plan, y)} [{n}]{apart}."


def _with_number(row: ResultRow) -> ResultRow:
    """With the number that its text holds in the place of the text."""
    return replace(row, values=(*row.values[:-1], number_in(str(row.values[-1]))))


def _found(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str | None:
    return found_rows(plan, result, numbers, conditions_text(plan.query))


def _lookup(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    """`Amount for Kofi Boateng: GHS 12,000 [1].`, or the cells of each row with their names."""
    if len(result.rows) == 1 and len(result.columns) == 2 and plan.subject is not None:
        owner, value = result.rows[0].values
        if shown(owner) and shown(value) and not is_missing(value) and result.columns[0] == plan.subject.name:
            name = result.columns[1]
            return f"{title(name)} {at(shown(owner))}: {figure(value, name)} [{numbers[0]}]."

    def line(row: ResultRow) -> str:
        return row_sentence(list(zip(result.columns, row.values, strict=True)))

    lines = _with_rest(result, cited_lines(result.rows[: THRESHOLDS.cited_rows], numbers, line))
    return "\n".join(lines)


def _rows(plan: Plan, result: TableResult, numbers: Sequence[int]) -> str:
    def line(row: ResultRow) -> str:
        cells = [(name, value) for name, value in zip(result.columns, row.values, strict=True) if value is not None]
        return row_sentence(cells) if cells else "(empty)"

    return "\n".join(_with_rest(result, cited_lines(result.rows[: THRESHOLDS.cited_rows], numbers, line)))


_SHAPES = {
    Shape.EXISTS: exists_words,
    Shape.CELLS: cells_words,
    Shape.PART: part_words,
    Shape.SERIES: series_words,
    Shape.COUNT: _count,
    Shape.FIGURE: _figure,
    Shape.GROUPS: _groups,
    Shape.EXTREME: _extreme,
    Shape.TOP: _top,
    Shape.COMPARE: _compare,
    Shape.LOOKUP: _lookup,
    Shape.ROWS: _rows,
    Shape.FOUND: _found,
    Shape.VALUES: _values,
}


def _with_rest(result: TableResult, lines: list[str]) -> list[str]:
    rest = len(result.rows) - len(lines)
    more = " or more" if len(result.rows) == result.query.limit else ""
    return [*lines, f"and {rest}{more} further rows."] if rest > 0 else lines


def _beyond(row: ResultRow, last: ResultRow, descending: bool) -> bool:
    value, limit = row.values[-1], last.values[-1]
    return value is None or (value < limit if descending else value > limit)


def _measured(plan: Plan) -> str:
    if plan.metric is None:
        return "number of rows"
    if plan.function in _PLAIN:
        return plan.metric.name
    assert plan.function is not None
    return f"{_FUNCTIONS[plan.function]} {title(plan.metric.name)}"
