"""Typed query → SQL with bound parameters. Column names are checked against the table; nothing of a query is spliced in as text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from citewell.agent.tables.query.quoting import quoted
from citewell.agent.tables.query.typed import (
    Aggregate,
    ColumnRef,
    Comparator,
    DatePart,
    Function,
    RowCondition,
    Scalar,
    TableQuery,
    TextValue,
)
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.errors import InvalidInput, named
from citewell.types import ROW_COLUMN, TableColumn, TableInfo
from citewell.types.figures import number_sql

_MAX_INTEGER = 2**127 - 1
_SIGNS = {Comparator.LT: "<", Comparator.LTE: "<=", Comparator.GT: ">", Comparator.GTE: ">="}
_PARTS = {
    DatePart.YEAR: "year({0})",
    DatePart.QUARTER: "year({0}) || '-Q' || quarter({0})",
    DatePart.MONTH: "strftime({0}, '%Y-%m')",
    DatePart.DAY: "strftime({0}, '%Y-%m-%d')",
}
DATES = (
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%B %Y",
    "%b %Y",
    "%Y-%m-%d",
    "%d.%m.%Y",
)
"""How dates are written in texts; what could be read in two ways (03/04/2005) is none."""
_HELD = {
    TextValue.NUMBER: number_sql("{0}"),
    TextValue.DECIMAL_COMMA: number_sql("{0}", comma=True),
    TextValue.DATE: "try_strptime({0}, [" + ", ".join(f"'{form}'" for form in DATES) + "])",
}
_FUNCTIONS = {
    Function.COUNT: "count({0})",
    Function.COUNT_DISTINCT: "count(DISTINCT {0})",
    Function.MIN: "min({0})",
    Function.MAX: "max({0})",
    Function.MEDIAN: "median({0})",
}

Parameter = str | int | float | bool | date | datetime | time


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL over `read_parquet($1)`; `names` are the result's columns, after which come the row facts (see `grouped`).

    grouped: the row facts are (rows, first row, last row, listed rows); else one (row number).
    """

    sql: str
    parameters: tuple[Parameter, ...]
    names: tuple[str, ...]
    grouped: bool


def compile_query(query: TableQuery, table: TableInfo, relation: str = "read_parquet(?)") -> Compiled:
    """relation: what rows are read from, in SQL.

    Raises `InvalidInput` for unknown columns, sums of text, and values that do not fit their column."""
    columns = {column.name: column for column in table.columns}
    writer = _Writer(columns)
    where = " AND ".join([writer.condition(c) for c in query.conditions]) or "true"
    if query.aggregates or query.groups:
        select, names, group = writer.grouped(query)
    else:
        select, names, group = writer.plain(query, table), query.columns or tuple(columns), ""
    order = writer.order(query, names)
    # Identifiers are checked and quoted, values are bound.
    sql = f"SELECT {select} FROM {relation} WHERE {where}{group}{order} LIMIT {int(query.limit)}"  # noqa: S608
    return Compiled(sql, tuple(writer.parameters), tuple(names), bool(query.aggregates or query.groups))


_KINDS = {
    DatePart.YEAR: "integer",
    TextValue.NUMBER: "number",
    TextValue.DECIMAL_COMMA: "number",
    TextValue.DATE: "datetime",
}
"""Kinds of the parts of a cell; those not named here are text."""


class _Writer:
    """Collects parameters while the parts of a statement are written."""

    def __init__(self, columns: dict[str, TableColumn]) -> None:
        self._columns = columns
        self._row = TableColumn(ROW_COLUMN, "integer")
        self.parameters: list[Parameter] = []

    def plain(self, query: TableQuery, table: TableInfo) -> str:
        wanted = query.columns or tuple(column.name for column in table.columns)
        return ", ".join([*(self._column(name) for name in wanted), quoted(ROW_COLUMN)])

    def grouped(self, query: TableQuery) -> tuple[str, tuple[str, ...], str]:
        if query.columns and set(query.columns) - {g.column for g in query.groups}:
            raise InvalidInput("With aggregates, `columns` may only name columns of `groups`.")
        groups = [self._ref(ref) for ref in query.groups]
        aggregates = [self._aggregate(a) for a in (query.aggregates or (Aggregate(Function.COUNT),))]
        names = (
            *(ref.name for ref in query.groups),
            *(a.name for a in (query.aggregates or (Aggregate(Function.COUNT),))),
        )
        row = quoted(ROW_COLUMN)
        facts = [
            "count(*)", f"min({row})", f"max({row})", f"list({row} ORDER BY {row})[1:{THRESHOLDS.listed_rows}]",
        ]  # fmt: skip
        group = f" GROUP BY {', '.join(str(n) for n in range(1, len(groups) + 1))}" if groups else ""
        return ", ".join([*groups, *aggregates, *facts]), names, group

    def order(self, query: TableQuery, names: tuple[str, ...]) -> str:
        terms: list[str] = []
        for order in query.order:
            direction = "DESC" if order.descending else "ASC"
            if order.by in names and order.part is None:
                terms.append(f"{names.index(order.by) + 1} {direction} NULLS LAST")
            elif query.groups and order.by == ROW_COLUMN:  # groups in the order of their first rows
                terms.append(f"min({quoted(ROW_COLUMN)}) {direction}")
            elif not query.aggregates and not query.groups:
                terms.append(f"{self._ref(ColumnRef(order.by, order.part))} {direction} NULLS LAST")
            else:
                raise InvalidInput(f"`order` names {named(order.by)}; it may name {', '.join(names)}.")
        if not query.aggregates and not query.groups:
            terms.append(quoted(ROW_COLUMN))
        elif query.groups:
            terms += [str(n) for n in range(1, len(query.groups) + 1)]
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def condition(self, condition: RowCondition) -> str:
        column, reference = self._known(condition.ref.column), self._ref(condition.ref)
        kind = _KINDS.get(condition.ref.part, "text") if condition.ref.part else column.kind
        match condition.comparison:
            case Comparator.EMPTY:
                return f"{reference} IS NULL"
            case Comparator.NOT_EMPTY:
                return f"{reference} IS NOT NULL"
            case Comparator.IN | Comparator.NOT_IN:
                values = condition.value if isinstance(condition.value, tuple) else ()
                marks = ", ".join(self._bind(value, kind, column.name) for value in values)
                inside = f"{reference} IN ({marks})"
                return inside if condition.comparison is Comparator.IN else f"({reference} IS NULL OR NOT {inside})"
            case _ if condition.than:
                return self._compared(condition, column)
            case Comparator.CONTAINS | Comparator.STARTS_WITH:
                function = "contains" if condition.comparison is Comparator.CONTAINS else "starts_with"
                # Both sides by DuckDB's `lower`: Python's differs in some letters (the last sigma of a Greek word).
                part = self._bind(_single(condition), "text", column.name)
                return f"{function}(lower(CAST({reference} AS VARCHAR)), lower({part}))"
            case Comparator.EQ:
                return f"{reference} = {self._bind(_single(condition), kind, column.name)}"
            case Comparator.NE:
                return f"{reference} IS DISTINCT FROM {self._bind(_single(condition), kind, column.name)}"
            case _:
                if kind == "boolean":
                    raise InvalidInput(f"`{column.name}` is true or false and has no order.")
                return f"{reference} {_SIGNS[condition.comparison]} {self._bind(_single(condition), kind, column.name)}"

    def _compared(self, condition: RowCondition, column: TableColumn) -> str:
        """Two cells of a row. Numbers compare with numbers, other kinds with their own."""
        other = self._known(condition.than)
        if condition.comparison not in (*_SIGNS, Comparator.EQ, Comparator.NE):
            raise InvalidInput(f"`{condition.comparison.value}` compares with a `value`, not with a column.")
        if (
            other.kind != column.kind
            and not (other.is_numeric and column.is_numeric)
            and not (other.is_dated and column.is_dated)
        ):
            raise InvalidInput(
                f"`{column.name}` holds {column.kind} and `{other.name}` {other.kind}; they cannot be compared."
            )
        signs = {**_SIGNS, Comparator.EQ: "=", Comparator.NE: "IS DISTINCT FROM"}
        return f"{self._ref(condition.ref)} {signs[condition.comparison]} {self._column(other.name)}"

    def _aggregate(self, aggregate: Aggregate) -> str:
        if aggregate.column is None:
            return "count(*)"
        column, name = self._known(aggregate.column), self._ref(ColumnRef(aggregate.column, aggregate.part))
        numeric = column.is_numeric or aggregate.part in (TextValue.NUMBER, TextValue.DECIMAL_COMMA, DatePart.YEAR)
        if aggregate.function in (Function.SUM, Function.AVG, Function.MEDIAN) and not numeric:
            raise InvalidInput(f"`{column.name}` holds {column.kind}, which has no {aggregate.function.value}.")
        if aggregate.function is Function.SUM:
            return f"sum({name})" if column.kind == "integer" else f"fsum({name})"
        if aggregate.function is Function.AVG:
            return f"favg({name})"
        return _FUNCTIONS[aggregate.function].format(name)

    def _ref(self, ref: ColumnRef) -> str:
        column, name = self._known(ref.column), self._column(ref.column)
        if ref.bin is not None:
            if not column.is_numeric:
                raise InvalidInput(f"`{column.name}` holds {column.kind}, not numbers; it has no `bin`.")
            return f"floor({name}::DOUBLE / {ref.bin!r}) * {ref.bin!r}"
        if ref.part is None:
            return name
        if isinstance(ref.part, TextValue):
            if column.kind != "text":
                raise InvalidInput(f"`{column.name}` holds {column.kind}; `{ref.part.value}` is a part of texts.")
            return _HELD[ref.part].replace("{0}", name)
        if not column.is_dated:
            raise InvalidInput(f"`{column.name}` holds {column.kind}, not dates; it has no {ref.part.value}.")
        return _PARTS[ref.part].format(name)

    def _column(self, name: str) -> str:
        column = self._known(name)
        cell = quoted(column.name)
        # A Parquet file may hold what is not a number in a column of numbers: there it is no value, as it is in a sheet.
        return f"CASE WHEN NOT isnan({cell}) THEN {cell} END" if column.kind == "number" else cell

    def _known(self, name: str) -> TableColumn:
        if name == ROW_COLUMN:
            return self._row
        if name not in self._columns:
            raise InvalidInput(f"There is no column {named(name)}. The columns are: {', '.join(self._columns)}.")
        return self._columns[name]

    def _bind(self, value: Scalar, kind: str, column: str) -> str:
        self.parameters.append(_converted(value, kind, column))
        return "?"


def _single(condition: RowCondition) -> Scalar:
    if condition.value is None or isinstance(condition.value, tuple):
        raise InvalidInput(f"`{condition.comparison.value}` needs one `value`.")
    return condition.value


def _converted(value: Scalar, kind: str, column: str) -> Parameter:
    """`value` as the column's kind."""
    try:
        match kind:
            case "integer" | "number":
                return _number(value)
            case "boolean":
                return _boolean(value)
            case "date":
                return date.fromisoformat(str(value)[:10])
            case "datetime":
                return _in_utc(datetime.fromisoformat(str(value)))
            case "time":
                return _without_zone(time.fromisoformat(str(value)))
            case _:
                return _encodable(str(value))
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"`{column}` holds {kind}; {named(value)} cannot be compared with it (dates as 2025-01-31)."
        ) from None


def _number(value: Scalar) -> int | float:
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return _bindable(value)
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", str(value).strip())
    return _bindable(int(text)) if re.fullmatch(r"[+-]?\d{1,4000}", text) else float(text)


def _bindable(number: int) -> int | float:
    """A number past DuckDB's 128 bits as the nearest float; past those, infinite: it compares the same with every cell."""
    if -_MAX_INTEGER <= number <= _MAX_INTEGER:
        return number
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _in_utc(moment: datetime) -> datetime:
    """Columns hold moments in UTC, without a zone."""
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _without_zone(clock: time) -> time:
    if clock.tzinfo is not None:
        raise ValueError(clock)
    return clock


def _encodable(text: str) -> str:
    """`text`, unless it holds half of a surrogate pair, as JSON may: no cell does."""
    text.encode()
    return text


def _boolean(value: Scalar) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"
