"""Which picture a query's result makes, if any: decided by the typed query and its rows alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from citewell.agent.tables.language.links import unit_words
from citewell.agent.tables.picture.moments import moments
from citewell.agent.tables.picture.picture import (
    MAX_BARS,
    MAX_POINTS,
    MAX_SERIES,
    MIN_LINE,
    MIN_POINTS,
    Datum,
    Form,
    Picture,
)
from citewell.agent.tables.query.typed import Aggregate, ColumnRef, Function
from citewell.agent.tables.run.engine import ResultRow, TableResult
from citewell.agent.tables.run.results import (
    AVERAGES,
    aggregate_words,
    asked_column,
    rounded_number,
    shown,
    to_decimals,
)
from citewell.types import ROW_COLUMN, TableColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is known of the picture that is wanted: `form` where one was named, `asked` where a picture was."""

    form: Form | None = None
    asked: bool = False


def picture_of(result: TableResult, numbers: Mapping[int, int], wish: Wish | None = None) -> Picture | None:
    """The picture that the result makes, None where words say it better.

    numbers: the `[n]` of the answer by the index of the result row that it names.
    """
    wish = wish or Wish()
    found = _of_groups(result, numbers) if result.grouped else _of_rows(result, numbers)
    least = 1 if wish.asked else MIN_POINTS
    if found is None or len(found.points) < least or len({point.series for point in found.points}) > MAX_SERIES:
        return None
    return _drawable(_in_order(found), wish)


def _of_groups(result: TableResult, numbers: Mapping[int, int]) -> Picture | None:
    """Figures by group; several figures of one kind and unit, or a second group, are series."""
    query, rows = result.query, result.rows
    aggregates = query.aggregates or (Aggregate(Function.COUNT),)
    widths = (len(query.groups), len(aggregates))
    if widths not in ((1, 1), (2, 1)) and not (widths[0] == 1 and _of_one_kind(aggregates)):
        return None
    several = any(row.rows.count > 1 for row in rows)
    group = next(iter(query.groups))
    measured = [_measured(result, aggregate) for aggregate in aggregates]
    points: list[Datum] = []
    for index, row in enumerate(rows):
        for place, aggregate in enumerate(aggregates):
            x, y = row.values[0], _number(row.values[len(query.groups) + place])
            if x is None or y is None:
                continue
            series = _name(aggregate, several) if len(aggregates) > 1 else _second(query.groups, row)
            points.append(
                _point(x, y, row, series, numbers.get(index), binned=group.bin is not None, column=measured[place])
            )
    column = _column(result, group.column)
    form = Form.HISTOGRAM if group.bin is not None and len(aggregates) == 1 else Form.BARS
    return Picture(
        form=form,
        table=result.table,
        x=_axis(group),
        y=" and ".join(_name(aggregate, several) for aggregate in aggregates),
        series=query.groups[1].column if len(query.groups) > 1 else "Column" if len(aggregates) > 1 else "",
        y_is_series=len(aggregates) > 1,
        points=tuple(points),
        total=len(points),
        measured=next(iter(aggregates)).column or (column.name if column is not None else None),
        bin=group.bin,
    )


def _of_rows(result: TableResult, numbers: Mapping[int, int]) -> Picture | None:
    """One number of each row, named by another column. Of a ranking that was cut off, the rows that the answer names."""
    measured = asked_column(result.query)
    column = _column(result, measured) if measured is not None else None
    label = next((name for name in result.columns if name != measured), None)
    if column is None or not column.is_numeric or label is None or column.name not in result.columns:
        return None
    at, named_by = result.columns.index(column.name), result.columns.index(label)
    is_cut = len(result.rows) >= result.query.limit
    rows = [(i, row) for i, row in enumerate(result.rows) if i in numbers or not is_cut]
    points: list[Datum] = []
    for index, row in rows:
        y = _number(row.values[at])
        if row.values[named_by] is not None and y is not None:
            points.append(_point(row.values[named_by], y, row, "", numbers.get(index), column=(column, False)))
    names = [point.x for point in points]
    if len(set(names)) < len(names):
        return None
    return Picture(
        form=Form.BARS, table=result.table, x=label, y=column.name, points=tuple(points), total=len(points),
        measured=column.name, is_open=len(numbers) == len(points),
    )  # fmt: skip


def _in_order(found: Picture) -> Picture:
    """Times and numbers in their order; other names as the result has them."""
    points = list(found.points)
    if found.form is Form.HISTOGRAM:
        return replace(found, points=tuple(sorted(points, key=lambda point: float(point.x))))
    at = moments([str(point.x) for point in points])
    if at is not None:
        points = [replace(point, moment=moment) for point, moment in zip(points, at, strict=True)]
        return replace(found, points=tuple(sorted(points, key=lambda point: point.moment)), temporal=True)
    column = next((c for c in found.table.columns if c.name == found.x), None)
    if column is not None and column.is_numeric:
        points.sort(key=lambda point: float(str(point.x).replace(",", "")))
    return replace(found, points=tuple(points))


def _drawable(found: Picture, wish: Wish) -> Picture:
    """With a form, no more points than that form can show, and those marked that the answer names when it does not name all."""
    form = found.form
    if form is not Form.HISTOGRAM:
        moments_shown = len({point.moment for point in found.points})
        form = wish.form if wish.form in (Form.BARS, Form.LINE) else None
        form = form or (Form.LINE if found.temporal and moments_shown >= MIN_LINE else Form.BARS)
    most = MAX_BARS if form is Form.BARS and not found.temporal else MAX_POINTS
    points = found.points
    if len(points) > most:
        kept = sorted(range(len(points)), key=lambda i: -points[i].y)[:most]
        points = tuple(points[i] for i in sorted(kept))
    cited = sum(point.cite is not None for point in points)
    if not found.is_open and cited:
        points = tuple(replace(point, named=point.cite is not None) for point in points)
    return replace(found, form=form, points=points, is_open=found.is_open or wish.asked)


def _of_one_kind(aggregates: Sequence[Aggregate]) -> bool:
    """Figures that one axis can measure."""
    columns = [aggregate.column or "" for aggregate in aggregates]
    return len({a.function for a in aggregates}) == 1 and len({unit_words(name) for name in columns}) == 1


def _second(groups: Sequence[ColumnRef], row: ResultRow) -> str:
    """The value of a second group, empty without one."""
    return (shown(row.values[1]) or "(empty)") if len(groups) > 1 else ""


def _measured(result: TableResult, aggregate: Aggregate) -> tuple[TableColumn | None, bool]:
    """The column whose values a figure shows, None for a count of rows or values; and whether the figure is an average."""
    counts = aggregate.column is None or aggregate.function in (Function.COUNT, Function.COUNT_DISTINCT)
    return None if counts else _column(result, aggregate.column or ""), aggregate.function in AVERAGES


def _point(
    x: Any,
    y: float,
    row: ResultRow,
    series: str,
    cite: int | None,
    *,
    column: tuple[TableColumn | None, bool],
    binned: bool = False,
) -> Datum:
    """column: see `_measured`; the text of an average is rounded as the answer rounds it."""
    place = float(x) if binned else (str(x) if isinstance(x, int) and not isinstance(x, bool) else shown(x))
    of, is_average = column
    text = shown(to_decimals(rounded_number(y) if is_average else y, of.decimals if of is not None else 0))
    return Datum(x=place, y=y, rows=row.rows, series=series, cite=cite, text=text)


def _name(aggregate: Aggregate, several: bool) -> str:
    """`Total of Amount (GHS)`; the column alone where each group is one row, so that nothing was added up."""
    if aggregate.column is None:
        return "Number of rows"
    if not several and aggregate.function not in (Function.COUNT, Function.COUNT_DISTINCT):
        return aggregate.column
    return aggregate_words(aggregate)


def _axis(group: ColumnRef) -> str:
    return f"{group.column} ({group.part.value})" if group.part is not None else group.column


def _column(result: TableResult, name: str) -> TableColumn | None:
    if name == ROW_COLUMN:
        return None
    return next((column for column in result.table.columns if column.name == name), None)


def _number(value: Any) -> float | None:
    """A finite number, None for an empty cell and for what a picture has no place for."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = float(value)
    return number if math.isfinite(number) else None
