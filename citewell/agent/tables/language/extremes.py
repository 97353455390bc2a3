"""Plans for the highest and the lowest: rows by a column, or groups by how many rows they have or what these add up to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from citewell.agent.tables.language.amounts import adds_up, amount_column, size_column
from citewell.agent.tables.language.links import core_name, is_coded, is_numbering, name_norms
from citewell.agent.tables.language.metrics import CannotPlan, metrics, one_metric, require_one_currency
from citewell.agent.tables.language.question_reading import OperationMention, Reading
from citewell.agent.tables.language.shape import AGGREGATES, Plan, Shape, grouped, ranked_groups
from citewell.agent.tables.language.wording import DATE_EXTREMES, ROW_NOUNS, Operation, number_of
from citewell.agent.tables.query.typed import (
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
from citewell.types import TableColumn

_OF_THEIR_OWN = frozenset({"most", "least", "fewest", "longest", "shortest", "top", "bottom"})
"""Superlatives that do not say by themselves that amounts are ranked."""
_FIGURE = re.compile(r"(?:[a-z]{2,7}\.? |[~<>≈]\s?|[^\w\s]{0,2}\s?)?\d[\d.,' ]{0,30}\s?[a-zA-Z%€$£]{0,3}")


def extreme(reading: Reading, label: TableColumn | None) -> Plan:
    """The rows with the highest or lowest values of a column, or the group with most rows."""
    mention = _only(reading.operations)
    descending = mention.operation is Operation.MAX
    table = reading.words.table
    if reading.entity is None and (entity := _after(reading, mention)) is not None:
        reading = replace(reading, entity=entity)
    if reading.entity is not None and not metrics(reading, apart=reading.entity) and _counts_rows(reading, mention):
        return _most_rows(reading, mention, descending)
    if (ranked := _most_of_column(reading, mention, label, descending)) is not None:
        return ranked
    unnamed = mention.text not in _OF_THEIR_OWN or mention.count is not None
    unnamed |= reading.deals and mention.text in ("most", "least")
    implied = _size(reading, mention) or _day_of_rows(reading, mention)
    metric = implied or one_metric(reading, dated=mention.text in DATE_EXTREMES, unnamed=unnamed)
    if is_numbering(metric.name) and not any(m.whole for m in reading.columns if m.column == metric):
        raise CannotPlan(f"{core_name(metric.name)} only tells rows apart")
    require_one_currency(reading, metric)
    if reading.groups:
        return grouped(reading, Aggregate(Function.MAX if descending else Function.MIN, metric.name), metric)
    if (
        reading.entity not in (None, label, metric)
        and adds_up(metric)
        and (reading.deals or not metrics(reading, apart=reading.entity))
    ):
        assert reading.entity is not None
        total = Aggregate(Function.SUM, metric.name)
        return ranked_groups(reading, reading.entity, total, metric, descending, mention.count or 1)
    subject = reading.entity if reading.entity is not None and reading.entity.name != metric.name else label
    if (
        metric.is_dated
        and reading.opening != "when"
        and not any(m.whole for m in reading.columns if m.column == metric)
    ):
        numbered = subject is not None and is_numbering(subject.name)
        if (found := _rows_by_day(reading, mention, metric, None if numbered else subject)) is not None:
            return found
    if reading.opening == "who" and not names_anybody(reading, subject):
        raise CannotPlan("no column that it names says who")
    columns = (subject.name, metric.name) if subject is not None else (metric.name,)
    query = TableQuery(
        source=table_key(table),
        columns=columns,
        conditions=(*reading.conditions, RowCondition(ColumnRef(metric.name), Comparator.NOT_EMPTY)),
        order=(Order(metric.name, descending),),
        limit=(mention.count or 1) + THRESHOLDS.spare_rows,
    )
    one_row = label is not None and any(m.first == mention.last and m.column == label for m in reading.columns)
    several = reading.entity is not None and reading.entity.name != metric.name and not one_row
    unique = (reading.entity.name,) if reading.entity is not None and several and not metric.is_dated else ()
    return Plan(
        shape=Shape.TOP if mention.count and mention.count > 1 else Shape.EXTREME,
        table=table,
        query=query,
        metric=metric,
        subject=subject,
        descending=descending,
        best=mention.count or 1,
        unique=unique,
    )


def _day_of_rows(reading: Reading, mention: OperationMention) -> TableColumn | None:
    """The column of dates that tells which is the last invoice, where none is named: the only one, or the one that is called after the noun."""
    if mention.text not in DATE_EXTREMES or any(m.column.is_dated for m in reading.columns):
        return None
    table = reading.words.table
    if table.only_dated is not None:
        return table.only_dated
    nouns = {word.norm for word in reading.question[mention.last : mention.last + 2]}
    called = [c for c in table.columns if c.is_dated and not nouns.isdisjoint(name_norms(c))]
    return called[0] if len(called) == 1 else None


def _rows_by_day(
    reading: Reading, mention: OperationMention, day: TableColumn, subject: TableColumn | None
) -> Plan | None:
    """The rows with the first or last day: the column that is asked of them, or, where nothing names a row, all their cells."""
    after = [m.column for m in reading.columns if 0 <= m.first - mention.last <= 1]
    nouns = {c for c in after if not c.is_numeric or is_numbering(c.name)}  # `the latest price` asks for it
    asked = [c for c in metrics(reading) if c not in nouns and c not in (day, subject)]
    count, table = mention.count or 1, reading.words.table
    if len(asked) > 1 or (asked and count > 1) or (reading.opening == "who" and not asked and subject is None):
        raise CannotPlan("it is not clear what is asked of these rows")
    if not asked and subject is not None:
        return None
    names = [c.name for c in (subject, *asked, day) if c is not None]
    query = TableQuery(
        source=table_key(table),
        columns=tuple(names) if asked else tuple(c.name for c in table.columns),
        conditions=(*reading.conditions, RowCondition(ColumnRef(day.name), Comparator.NOT_EMPTY)),
        order=(Order(day.name, mention.operation is Operation.MAX),),
        limit=count + THRESHOLDS.spare_rows,
    )
    return Plan(
        shape=Shape.FOUND if asked else Shape.WHOLE,
        table=table,
        query=query,
        metric=day,
        subject=subject,
        asked=asked[0] if asked else None,
        descending=mention.operation is Operation.MAX,
        best=count,
        lead="latest" if mention.operation is Operation.MAX else "earliest",
        ranked=True,
    )


def names_anybody(reading: Reading, subject: TableColumn | None) -> bool:
    """Whether rows are called by names, and not by codes: `A-101` has paid nothing."""
    return subject is not None and not is_coded(reading.words.values.get(subject.name, ()))


def _size(reading: Reading, mention: OperationMention) -> TableColumn | None:
    """The column of sizes for `the largest apartment`, unless it names a column of numbers or the amounts are of what it names (`the largest loan`)."""
    if mention.text not in ("largest", "biggest", "smallest") or any(m.column.is_numeric for m in reading.columns):
        return None
    amount = amount_column(reading.words.table)
    named = {word.norm for word in reading.question}
    return None if amount is not None and not named.isdisjoint(name_norms(amount)) else size_column(reading.words.table)


def _after(reading: Reading, mention: OperationMention) -> TableColumn | None:
    """The column of names that is asked for in `the cheapest product`, `biggest expense category apart from salaries`."""
    named = metrics(reading)
    if len(named) == 1 and named[0].kind == "text":
        if _holds_figures(reading, named[0]):
            raise CannotPlan(f"{core_name(named[0].name)} holds text, not numbers")
        return named[0]
    given = {c.ref.column for c in reading.conditions if c.comparison is Comparator.EQ}
    near = (m.column for m in reading.columns if 0 <= m.first - mention.last <= 1 and m.column.kind == "text")
    return next((column for column in near if column.name not in given), None)


def _holds_figures(reading: Reading, column: TableColumn) -> bool:
    """Whether a column of texts is one of figures that could not be read as numbers: `$12k`, `approx. 5`."""
    texts = reading.words.values.get(column.name, ())
    return bool(texts) and 2 * sum(_FIGURE.fullmatch(text.strip()) is not None for text in texts) > len(texts)


def _counts_rows(reading: Reading, mention: OperationMention) -> bool:
    """`most loans`, `fewest rows`: the word after the superlative names the rows."""
    if mention.text not in ("most", "fewest", "least") or mention.last >= len(reading.question):
        return False
    return reading.question[mention.last].norm in ROW_NOUNS | _table_nouns(reading)


def _table_nouns(reading: Reading) -> frozenset[str]:
    from_names = {w.norm for i, w in enumerate(reading.question) if i in reading.used and reading.names_table}
    return frozenset(from_names - {m for c in reading.columns for m in (reading.question[c.first].norm,)})


def _most_of_column(
    reading: Reading, mention: OperationMention, label: TableColumn | None, descending: bool
) -> Plan | None:
    """`Which officer has the most borrowers`: by how many different values of the column after the superlative there are."""
    after = next((m.column for m in reading.columns if m.first == mention.last), None)
    counted = mention.text in ("most", "fewest", "least") and after is not None and after.kind == "text"
    if not counted or after is None or reading.entity is None or after == reading.entity:
        return None
    values = reading.words.values
    groups = len(values.get(reading.entity.name, ()))
    texts = values.get(after.name, ())
    if not 0 < groups < reading.words.table.rows or 2 * sum(number_of(text) is not None for text in texts) > len(texts):
        return None
    if after == label or len(texts) == reading.words.table.rows:
        return _most_rows(reading, mention, descending)
    distinct = Aggregate(Function.COUNT_DISTINCT, after.name)
    return ranked_groups(reading, reading.entity, distinct, after, descending, mention.count or 1)


def _most_rows(reading: Reading, mention: OperationMention, descending: bool) -> Plan:
    assert reading.entity is not None
    return ranked_groups(reading, reading.entity, Aggregate(Function.COUNT), None, descending, mention.count or 1)


def extreme_of_groups(reading: Reading) -> Plan:
    """`Which branch has the highest total amount?`"""
    extreme = next(o for o in reading.operations if o.operation in (Operation.MAX, Operation.MIN))
    other = next(o for o in reading.operations if o is not extreme)
    entity = reading.entity
    if entity is None or other.operation not in AGGREGATES or len(reading.groups) > 0:
        raise CannotPlan("it asks for several things at once")
    metric = one_metric(reading, apart=entity)
    aggregate = Aggregate(AGGREGATES[other.operation], metric.name)
    return ranked_groups(reading, entity, aggregate, metric, extreme.operation is Operation.MAX, extreme.count or 1)


def _only(operations: Sequence[OperationMention]) -> OperationMention:
    if len(operations) > 1:
        raise CannotPlan("it asks for several things at once")
    return operations[0]
