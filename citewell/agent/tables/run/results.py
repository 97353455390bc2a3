"""Results of table queries in words, and as passages that can be cited: the rows they came from."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from citewell.agent.tables.query.typed import Aggregate, Comparator, Function, RowCondition, TableQuery
from citewell.agent.tables.run.engine import PlainInteger, ResultRow, RowFacts, TableResult, as_plain
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN, Chunk, ChunkType, Hit, Locator, Scores, TableColumn, TableInfo

_AS_SHOWN = frozenset({Function.SUM, Function.MIN, Function.MAX})
AVERAGES = frozenset({Function.AVG, Function.MEDIAN})
"""Functions whose values have more digits than those that they are made of."""
_WORDS = {
    Function.SUM: "Total of",
    Function.AVG: "Average of",
    Function.MEDIAN: "Median of",
    Function.MIN: "Lowest",
    Function.MAX: "Highest",
    Function.COUNT: "Number of",
    Function.COUNT_DISTINCT: "Different values of",
}
_MAX_PADDED = 10**15
"""Amount up to which decimals are added: beyond it, doubles hold none of them exactly."""
_NAMESPACE = uuid.UUID("7c0f2c1e-6a42-5d0e-9c0a-54c1f5a6f0a1")


class ShownDecimal(Decimal):
    """A number that is shown with the decimals that it has, `92.00`."""


def shown(value: Any) -> str:
    """A value as people write it: no binary noise, thousands grouped from 10,000 on, dates without an idle midnight."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return format_number(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def as_written(result: TableResult) -> TableResult:
    """The result as a reader knows it from the file: `Price (£)` for a column of `£3.00`, `27 August 2005` where it writes its dates so.

    Dates in figures only (`27/08/2005`) stay in the form that nobody can misread.
    """
    columns = {column.name: column for column in result.table.columns}
    result = with_decimals(result)
    known = [columns.get(name) for name in result.columns]
    rows = tuple(
        replace(row, values=tuple(_written(value, column) for value, column in zip(row.values, known, strict=True)))
        for row in result.rows
    )
    names = tuple(
        name if column is None else column.with_unit for name, column in zip(result.columns, known, strict=True)
    )
    return replace(result, columns=names, rows=rows)


def with_decimals(result: TableResult) -> TableResult:
    """The result with as many decimals as the file shows of a column's numbers, also in their sums; not in averages."""
    columns = {column.name: column.decimals for column in result.table.columns if column.decimals}
    if not columns:
        return result
    sums = {a.name: columns.get(a.column or "", 0) for a in result.query.aggregates if a.function in _AS_SHOWN}
    decimals = [(sums if result.grouped else columns).get(name, 0) for name in result.columns]
    rows = tuple(replace(row, values=tuple(map(to_decimals, row.values, decimals))) for row in result.rows)
    return replace(result, rows=rows)


def to_decimals(value: Any, decimals: int) -> Any:
    """A number with so many decimals where it has fewer; anything else, and a number with more of them, as it is."""
    if not decimals or isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    if not math.isfinite(value) or abs(value) >= _MAX_PADDED:
        return value
    exact = Decimal(f"{value:.12g}") if isinstance(value, float) else Decimal(value)
    padded = exact.quantize(Decimal(1).scaleb(-decimals))
    return ShownDecimal(padded) if padded == exact else value


def _written(value: Any, column: TableColumn | None) -> Any:
    if column is None or "%b" not in column.written.lower() or not isinstance(value, date):
        return value
    return value.strftime(column.written.replace("%d", str(value.day)))


def format_number(value: float | Decimal) -> str:
    """At most 12 significant digits, without trailing zeros; `NaN` and `Infinity` by these names, as a Parquet file may hold them."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, PlainInteger):
        return f"{value:d}"
    if isinstance(value, ShownDecimal):
        return f"{value:,f}" if abs(value) >= 10_000 else f"{value:f}"
    if value == int(value):
        whole = int(value)
        return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)
    text = f"{Decimal(f'{value:.12g}'):f}"
    whole, _, fraction = text.partition(".")
    grouped = f"{int(whole):,}" if abs(int(whole)) >= 10_000 else whole
    return f"{grouped}.{fraction.rstrip('0')}" if fraction.rstrip("0") else grouped


def row_hits(owner_id: str, result: TableResult) -> tuple[Hit, ...]:
    """A passage per result row: the row of the table, or the figure with the range of rows behind it."""
    cited = replace(result, rows=result.rows[: THRESHOLDS.cited_rows])
    told = with_decimals(cited) if result.grouped else as_written(cited)
    return tuple(_hit(owner_id, told, row, index) for index, row in enumerate(told.rows))


def result_text(result: TableResult, numbers: Sequence[int]) -> str:
    """The result as JSON lines for a model, each with the number to cite it by where it has one."""
    lines = [
        json.dumps(
            {
                **({"cite": numbers[i]} if i < len(numbers) else {}),
                **{name: _plain(value) for name, value in zip(result.columns, row.values, strict=True)},
                "rows": row_words(row.rows),
            },
            ensure_ascii=False,
        )
        for i, row in enumerate(result.rows)
    ]
    return "\n".join(lines) or "No row meets the conditions."


def row_words(facts: RowFacts) -> str:
    """`row 5`, `3 rows: 4, 9, 12` or `40 rows, 2-41`."""
    if facts.count == 0:
        return "no rows"
    if facts.count == 1:
        return f"row {facts.first}"
    if facts.count <= len(facts.listed) and facts.count <= 12 and not _contiguous(facts):
        return f"{facts.count} rows: {', '.join(map(str, facts.listed))}"
    return f"{facts.count:,} rows, {facts.first}-{facts.last}"


def statement(result: TableResult, row: ResultRow) -> str:
    """The passage that a citation of this result row quotes."""
    averages = {a.name for a in result.query.aggregates if a.function in AVERAGES}
    bins = {ref.name: ref for ref in result.query.groups if ref.bin is not None}
    figures = {aggregate.name: aggregate_words(aggregate) for aggregate in result.query.aggregates}
    pairs = " | ".join(
        f"{bins[name].column}: {bin_words(value, bins[name].bin or 0)}"
        if name in bins
        else f"{figures.get(name, name)}: {shown(rounded_number(value) if name in averages else value)}"
        for name, value in zip(result.columns, row.values, strict=True)
        if value is not None
    )
    conditions = "; ".join(condition_words(result))
    return (
        f"{pairs} ({row_words(row.rows)}{'; where ' + conditions if conditions else ''})" if result.grouped else pairs
    )


def aggregate_words(aggregate: Aggregate) -> str:
    """`Total of Amount (GHS)`, `Number of rows`."""
    return "Number of rows" if aggregate.column is None else f"{_WORDS[aggregate.function]} {aggregate.column}"


def rounded_number(value: Any) -> Any:
    """An average as people write it: two decimals, of one below 1 four digits; what is no number stays."""
    if isinstance(value, bool) or not isinstance(value, float | Decimal) or not math.isfinite(value):
        return value
    return round(float(value), 2) if abs(value) >= 1 else float(f"{value:.4g}")


def bin_words(start: float, width: float) -> str:
    """A range of numbers: `5000 to under 10,000`."""
    return f"{format_number(start)} to under {format_number(float(f'{start + width:.12g}'))}"


def condition_words(result: TableResult) -> list[str]:
    """The conditions of the query, readable; not that there is a value in what is measured or grouped by, which goes without saying."""
    query, out = result.query, list[str]()
    shown_anyway = {*(a.column for a in query.aggregates), *(g.column for g in query.groups)}
    for condition in query.conditions:
        implied = condition.comparison is Comparator.NOT_EMPTY and condition.ref.column in shown_anyway
        if condition.ref.column == ROW_COLUMN or implied:
            continue
        name = (
            condition.ref.column
            if condition.ref.part is None
            else f"{condition.ref.part.value} of {condition.ref.column}"
        )
        words = condition.than or condition_value(condition)
        out.append(f"{name} {condition.comparison.value.replace('_', ' ')} {words}".strip())
    return out


def condition_value(condition: RowCondition) -> str:
    """What a condition compares with. A number that a cell must be is one as the file has it: `account is 1002003004`."""
    exact = condition.comparison in (Comparator.EQ, Comparator.NE, Comparator.IN, Comparator.NOT_IN)
    return ", ".join(shown(as_plain(value) if exact else value) for value in condition.values)


def place(table: TableInfo, facts: RowFacts, column: str | None = None) -> Locator:
    """Sheet, rows (from first to last where there are several, and which of them), and the column whose cells were asked for."""
    last = facts.last if facts.count > 1 else None
    rows = () if last is None or _contiguous(facts) else facts.listed
    return Locator(sheet=table.sheet, row=facts.first, row_end=last, rows=rows, column=column)


def asked_column(query: TableQuery) -> str | None:
    """The one column that a query measures or reads besides those that name its rows; None where it asks for whole rows or several."""
    if query.aggregates or query.groups:
        measured = {aggregate.column for aggregate in query.aggregates if aggregate.column is not None}
    else:
        measured = {order.by for order in query.order if order.by != ROW_COLUMN}
        if not measured:
            known = {c.ref.column for c in query.conditions}
            read = [name for name in query.columns if name not in known]
            # The first of several names the row: `Quarter` beside `Expenses`.
            measured = {*(read if len(read) == 1 else read[1:])}
    return next(iter(measured)) if len(measured) == 1 else None


def _hit(owner_id: str, result: TableResult, row: ResultRow, index: int) -> Hit:
    table = result.table
    text = statement(result, row)
    # Rows may read the same: a row of the table is known by its number besides.
    number = "" if result.grouped else f"{row.rows.first}/"
    key = f"{table.resource_id}/{table.version}/{table.id}/{number}{text}"
    chunk = Chunk(
        id=str(uuid.uuid5(_NAMESPACE, key)),
        owner_id=owner_id,
        resource_id=table.resource_id,
        version=table.version,
        ordinal=row.rows.first or index,
        type=ChunkType.ROW,
        text=text,
        locator=place(table, row.rows, asked_column(result.query)),
        context=f"{table.filename} {table.sheet or table.name}",
        metadata={"rows": list(row.rows.listed), "row_count": row.rows.count, "query": result.query.to_json()},
    )
    return Hit(chunk=chunk, filename=table.filename, score=1.0, scores=Scores(), provenance=table.provenance)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    return float(f"{value:.12g}") if isinstance(value, float) and math.isfinite(value) else shown(value)


def _contiguous(facts: RowFacts) -> bool:
    return facts.first is not None and facts.last is not None and facts.last - facts.first + 1 == facts.count
