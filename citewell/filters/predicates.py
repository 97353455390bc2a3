"""Evaluates filters against one payload: the reference for every vector store, and the filter for lists of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt

from citewell.errors import InvalidFilter
from citewell.ports.points import OWNER, RESOURCE, TYPE, FieldKind, field_kind, keyword
from citewell.types import AllOf, AnyOf, Condition, Expression, Filter, JsonValue, Negation, Operator


def holds(expression: Expression, payload: Mapping[str, JsonValue]) -> bool:
    """Whether a payload satisfies a lowered expression (`citewell.filters.language.lowered`)."""
    match expression:
        case Condition():
            return _fits(expression, payload)
        case AllOf(parts):
            return all(holds(part, payload) for part in parts)
        case AnyOf(parts):
            return any(holds(part, payload) for part in parts)
        case Negation(part):
            return not holds(part, payload)


def admits_nothing(filter: Filter) -> bool:
    """Whether an empty tuple of ids or types already rules out every point."""
    return filter.resource_ids == () or filter.types == ()


def admits(filter: Filter, payload: Mapping[str, JsonValue]) -> bool:
    """Whether a point with this payload passes the filter."""
    return (
        payload.get(OWNER) == filter.owner_id
        and (filter.resource_ids is None or payload.get(RESOURCE) in filter.resource_ids)
        and (filter.types is None or payload.get(TYPE) in {kind.value for kind in filter.types})
        and all(holds(condition, payload) for condition in filter.conditions)
    )


def kind_of_field(condition: Condition) -> FieldKind:
    """The kind of a condition's field. Raises `InvalidFilter` for an unknown field."""
    kind = field_kind(condition.field)
    if kind is None:
        raise InvalidFilter(f"Filtering by {condition.field!r} is not supported. See the fields at /docs.")
    return kind


def wanted_of(condition: Condition) -> tuple[str | int | float | bool, ...]:
    """The values of a condition, as a tuple."""
    return condition.value if isinstance(condition.value, tuple) else (condition.value,)


def numbers_of(condition: Condition) -> list[float]:
    """The values of a condition on a number or date field. Raises `InvalidFilter` for text."""
    numbers: list[float] = []
    for value in wanted_of(condition):
        if isinstance(value, str):
            raise InvalidFilter(f"The field {condition.field!r} takes numbers.")
        numbers.append(value)
    return numbers


def unfit(condition: Condition) -> InvalidFilter:
    """The error for an operator that the condition's field does not support."""
    if kind_of_field(condition) is FieldKind.KEYWORD:
        return InvalidFilter(f"The field {condition.field!r} is not ordered. Use `eq` or `in`.")
    return InvalidFilter(f"The field {condition.field!r} holds numbers, which have no {condition.operator.value!r}.")


def _fits(condition: Condition, payload: Mapping[str, JsonValue]) -> bool:
    kind = kind_of_field(condition)
    values = _values(payload, condition.field)
    wanted = wanted_of(condition)
    match condition.operator:
        case Operator.EXISTS:
            return bool(values) == wanted[0]
        case Operator.EQ | Operator.IN:
            found = {keyword(str(want)) if kind is FieldKind.KEYWORD else want for want in wanted}
            return any(value in found for value in values)
        case Operator.CONTAINS:
            return any(keyword(str(wanted[0])) in str(value) for value in values)
        case Operator.PREFIX:
            return any(str(value).startswith(keyword(str(wanted[0]))) for value in values)
        case operator:
            numbers = [value for value in values if isinstance(value, int | float)]
            return any(_ORDERS[operator](number, float(wanted[0])) for number in numbers)


_ORDERS: dict[Operator, Callable[[float, float], bool]] = {
    Operator.GT: gt,
    Operator.GTE: ge,
    Operator.LT: lt,
    Operator.LTE: le,
}


def _values(payload: Mapping[str, JsonValue], path: str) -> list[JsonValue]:
    """The values at a path of a payload, as a list."""
    stored: JsonValue = payload
    for name in path.split("."):
        stored = stored.get(name) if isinstance(stored, Mapping) else None
    if isinstance(stored, Sequence) and not isinstance(stored, str):
        return list(stored)
    return [] if stored is None else [stored]
