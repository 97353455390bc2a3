"""The typed query that `query_table` takes: what may be asked of a table, and how it is read from a model's JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

from citewell.errors import InvalidInput
from citewell.types import JsonObject, JsonValue

MAX_ROWS = 200
Scalar: TypeAlias = str | int | float | bool


class Comparator(StrEnum):
    """Conditions. `eq` on text is exact, to the letter; `ne` also admits empty cells."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    IN = "in"
    NOT_IN = "not_in"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    EMPTY = "empty"
    NOT_EMPTY = "not_empty"


class Function(StrEnum):
    """Aggregates. Empty cells do not count, except in `count` without a column, which counts rows."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"


class DatePart(StrEnum):
    """Parts of a date to group or compare by."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"


class TextValue(StrEnum):
    """What a text holds: the figure that it is (`£3.00`, `13,845 ft`, `1,200-`), else its first number, with a decimal
    point or comma; or the date that it is (`14 June 2005`)."""

    NUMBER = "number"
    DECIMAL_COMMA = "decimal_comma"
    DATE = "date"

    @property
    def is_number(self) -> bool:
        """Whether it is a figure rather than a date."""
        return self is not TextValue.DATE


Part: TypeAlias = DatePart | TextValue


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column, a part of its dates, what its texts hold, or the ranges of equal width that its numbers lie in (`bin`; each begins at a multiple of it)."""

    column: str
    part: Part | None = None
    bin: float | None = None

    @property
    def name(self) -> str:
        """How results and `order` call it: `Branch`, `month(Disbursed)`, `bin(Amount)`."""
        if self.bin is not None:
            return f"bin({self.column})"
        return self.column if self.part is None else f"{self.part.value}({self.column})"


@dataclass(frozen=True, slots=True)
class RowCondition:
    """One comparison; all conditions of a query must hold. `value` is a tuple for `in` and `not_in`, None for (not) empty.

    than: another column of the row, which is compared with in the place of a value
    """

    ref: ColumnRef
    comparison: Comparator
    value: Scalar | tuple[Scalar, ...] | None = None
    than: str = ""

    @property
    def values(self) -> tuple[Scalar, ...]:
        """What is compared with; empty for (not) empty and for another column."""
        if self.value is None:
            return ()
        return self.value if isinstance(self.value, tuple) else (self.value,)


def one_of(ref: ColumnRef, values: Sequence[Scalar]) -> RowCondition:
    """The condition that a column has one of these values, at least one."""
    if len(values) == 1:
        return RowCondition(ref, Comparator.EQ, values[0])
    return RowCondition(ref, Comparator.IN, tuple(values))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A figure over the rows of each group; `column` is None only for `count`, `part` only with a column."""

    function: Function
    column: str | None = None
    part: Part | None = None

    @property
    def name(self) -> str:
        """How results and `order` call it: `sum(Amount)`, `sum(number(Amount))`, `count`."""
        if self.column is None:
            return self.function.value
        return f"{self.function.value}({ColumnRef(self.column, self.part).name})"


@dataclass(frozen=True, slots=True)
class Order:
    """What the result is ordered by: a column, a part of it, or an aggregate's name."""

    by: str
    descending: bool = False
    part: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery:
    """With aggregates: a row per group (one in all without groups). Without: the rows that meet the conditions."""

    source: str
    columns: tuple[str, ...] = ()
    conditions: tuple[RowCondition, ...] = ()
    groups: tuple[ColumnRef, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int = 20

    def to_json(self) -> dict[str, JsonValue]:
        """The form that `parse_query` reads, for traces."""
        return {
            "source": self.source,
            "columns": list(self.columns),
            "conditions": [
                {
                    **_ref_json(c.ref),
                    "comparison": c.comparison.value,
                    "value": list(c.value) if isinstance(c.value, tuple) else c.value,
                    **({"than": c.than} if c.than else {}),
                }
                for c in self.conditions
            ],
            "groups": [_ref_json(g) for g in self.groups],
            "aggregates": [
                {"function": a.function.value, "column": a.column, **_part_json(a.part)} for a in self.aggregates
            ],
            "order": [{"by": o.by, "descending": o.descending, **_part_json(o.part)} for o in self.order],
            "limit": self.limit,
        }


def parse_query(data: JsonObject) -> TableQuery:
    """A model's arguments as a query; `InvalidInput` says what is wrong with them."""
    allowed = {"source", "columns", "conditions", "groups", "aggregates", "order", "limit"}
    if unknown := sorted(set(data) - allowed):
        raise InvalidInput(f"`query_table` has no argument {', '.join(unknown)}.")
    limit = 20 if data.get("limit") is None else _whole(data.get("limit"))
    if limit is None or limit < 1:
        raise InvalidInput("`limit` must be a whole number of at least 1.")
    return TableQuery(
        source=_text(data, "source"),
        columns=tuple(_as_text(c, "columns") for c in _list(data, "columns")),
        conditions=tuple(_condition(item) for item in _objects(data, "conditions")),
        groups=tuple(_ref(item) for item in _groups(data)),
        aggregates=tuple(_aggregate(item) for item in _objects(data, "aggregates")),
        order=tuple(
            Order(_text(item, "by"), item.get("descending") is True, _part(item)) for item in _objects(data, "order")
        ),
        limit=min(limit, MAX_ROWS),
    )


def _whole(value: JsonValue) -> int | None:
    """A whole number, as 7 or 7.0; None for anything else, the infinite number that JSON's `1e999` is included."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ref_json(ref: ColumnRef) -> dict[str, JsonValue]:
    width: dict[str, JsonValue] = {"bin": ref.bin} if ref.bin is not None else {}
    return {"column": ref.column, **_part_json(ref.part), **width}


def _part_json(part: Part | None) -> dict[str, JsonValue]:
    return {"part": part.value} if part is not None else {}


def _condition(item: JsonObject) -> RowCondition:
    comparison = _choice(Comparator, item.get("comparison", "eq"), "comparison")
    value = item.get("value")
    if comparison in (Comparator.EMPTY, Comparator.NOT_EMPTY):
        return RowCondition(_ref(item), comparison)
    if comparison in (Comparator.IN, Comparator.NOT_IN):
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            raise InvalidInput(f"`value` of `{comparison.value}` must be a list that is not empty.")
        return RowCondition(_ref(item), comparison, tuple(_scalar(v) for v in value))
    if item.get("than") is not None:
        return RowCondition(_ref(item), comparison, than=_text(item, "than"))
    return RowCondition(_ref(item), comparison, _scalar(value))


def _aggregate(item: JsonObject) -> Aggregate:
    function = _choice(Function, item.get("function"), "function")
    column = item.get("column")
    if column is None or (function is Function.COUNT and column in ("", "*")):
        if function is not Function.COUNT:
            raise InvalidInput(f"`{function.value}` needs a `column`.")
        return Aggregate(function)
    return Aggregate(function, _as_text(column, "column"), _part(item))


def _ref(item: JsonObject) -> ColumnRef:
    part, width = _part(item), _width(item.get("bin"))
    if part is not None and width is not None:
        raise InvalidInput("`part` is for dates and texts, `bin` for numbers: a column has one of them.")
    return ColumnRef(_text(item, "column"), part, width)


def _width(value: JsonValue) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < float(value) < math.inf:
        raise InvalidInput("`bin` must be a number above 0.")
    return float(value)


def _part(item: JsonObject) -> Part | None:
    part = item.get("part")
    if part is None:
        return None
    known = next((kind(part) for kind in (DatePart, TextValue) if part in [*kind]), None)
    if known is None:
        raise InvalidInput(f"`part` must be one of {', '.join((*DatePart, *TextValue))}.")
    return known


def _groups(data: JsonObject) -> list[JsonObject]:
    return [{"column": item} if isinstance(item, str) else _object(item, "groups") for item in _list(data, "groups")]


_E = TypeVar("_E", bound=StrEnum)


def _choice(kind: type[_E], value: JsonValue, name: str) -> _E:
    try:
        return kind(str(value))
    except ValueError:
        raise InvalidInput(f"`{name}` must be one of {', '.join(kind)}.") from None


def _scalar(value: JsonValue) -> Scalar:
    if isinstance(value, str | int | float | bool):
        return value
    raise InvalidInput("A `value` must be a text, a number or true/false.")


def _text(data: JsonObject, name: str) -> str:
    return _as_text(data.get(name), name)


def _as_text(value: JsonValue, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"`{name}` must be a text.")
    return value


def _list(data: JsonObject, name: str) -> Sequence[JsonValue]:
    value = data.get(name)
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"`{name}` must be a list.")
    return value


def _objects(data: JsonObject, name: str) -> list[JsonObject]:
    return [_object(item, name) for item in _list(data, name)]


def _object(item: JsonValue, name: str) -> JsonObject:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"`{name}` must be a list of objects.")
    return item
