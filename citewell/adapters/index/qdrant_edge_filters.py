"""Typed filters as Qdrant Edge conditions. Values are passed as values; nothing is ever parsed."""

from __future__ import annotations

import qdrant_edge as qe

from citewell.errors import InvalidFilter
from citewell.points import OWNER, PAYLOAD_FIELDS, RESOURCE, TYPE, FieldKind, keyword
from citewell.types import Condition, Filter, Operator


def compile_filter(filter: Filter) -> qe.Filter:
    """The conditions of `filter`, all of which must hold. `InvalidFilter` for a field that no point has."""
    must = [_match(OWNER, filter.owner_id)]
    if filter.resource_ids is not None:
        must.append(_match_any(RESOURCE, list(filter.resource_ids)))
    if filter.types is not None:
        must.append(_match_any(TYPE, [kind.value for kind in filter.types]))
    must += [_condition(condition) for condition in filter.conditions]
    return qe.Filter(must=list(must))


def owned_by(owner_id: str) -> qe.Filter:
    """All points of an owner."""
    return qe.Filter(must=[_match(OWNER, owner_id)])


def admits_nothing(filter: Filter) -> bool:
    """Whether an empty tuple of ids or types already rules out every point."""
    return filter.resource_ids == () or filter.types == ()


def _condition(condition: Condition) -> qe.FieldCondition:
    kind = PAYLOAD_FIELDS.get(condition.field)
    if kind is None:
        raise InvalidFilter(f"Filtering by {condition.field!r} is not supported. See the fields at /docs.")
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if kind is FieldKind.KEYWORD:
        if condition.operator not in (Operator.EQ, Operator.IN):
            raise InvalidFilter(f"The field {condition.field!r} is not ordered. Use `eq` or `in`.")
        return _match_any(condition.field, [keyword(str(value)) for value in values])
    numbers = [_integer(condition.field, value) for value in values]
    if condition.operator is Operator.GTE:
        return qe.FieldCondition(key=condition.field, range=qe.RangeFloat(gte=max(numbers)))
    if condition.operator is Operator.LTE:
        return qe.FieldCondition(key=condition.field, range=qe.RangeFloat(lte=min(numbers)))
    return _match_any(condition.field, numbers)


def _integer(field: str, value: str | int | float) -> int:
    if isinstance(value, str) or int(value) != value:
        raise InvalidFilter(f"The field {field!r} takes whole numbers.")
    return int(value)


def _match(field: str, value: str | int) -> qe.FieldCondition:
    return qe.FieldCondition(key=field, match=qe.MatchValue(value))


def _match_any(field: str, values: list[str] | list[int]) -> qe.FieldCondition:
    return qe.FieldCondition(key=field, match=qe.MatchAny(values))
