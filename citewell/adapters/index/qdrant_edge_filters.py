"""Typed filters as Qdrant Edge conditions. Values are passed as values; nothing is ever parsed."""

from __future__ import annotations

from collections.abc import Iterator

import qdrant_edge as qe

from citewell.points import OWNER, RESOURCE, TYPE, FieldKind, keyword
from citewell.predicates import kind_of_field, numbers_of, unfit, wanted_of
from citewell.types import AllOf, AnyOf, Condition, Expression, Filter, Negation, Operator


def compile_filter(filter: Filter) -> qe.Filter:
    """The conditions of `filter`, all of which must hold. `InvalidFilter` for a field that no point has."""
    must: list[qe.FieldCondition | qe.Filter] = [_match(OWNER, filter.owner_id)]
    if filter.resource_ids is not None:
        must.append(_match_any(RESOURCE, list(filter.resource_ids)))
    if filter.types is not None:
        must.append(_match_any(TYPE, [kind.value for kind in filter.types]))
    must += [_expression(expression) for expression in filter.conditions]
    return qe.Filter(must=list(must))


def owned_by(owner_id: str) -> qe.Filter:
    """All points of an owner."""
    return qe.Filter(must=[_match(OWNER, owner_id)])


def admits_nothing(filter: Filter) -> bool:
    """Whether an empty tuple of ids or types already rules out every point."""
    return filter.resource_ids == () or filter.types == ()


def fields_of(filter: Filter) -> frozenset[str]:
    """The fields that its conditions are on."""
    return frozenset(field for expression in filter.conditions for field in _fields(expression))


def _fields(expression: Expression) -> Iterator[str]:
    match expression:
        case Condition():
            yield expression.field
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _fields(part)
        case Negation(part):
            yield from _fields(part)


def _expression(expression: Expression) -> qe.FieldCondition | qe.Filter:
    match expression:
        case Condition():
            return _condition(expression)
        case AllOf(parts):
            return qe.Filter(must=[_expression(part) for part in parts])
        case AnyOf(parts):
            # A filter with an empty `should` would admit everything.
            return qe.Filter(min_should=qe.MinShould([_expression(part) for part in parts], 1))
        case Negation(part):
            return qe.Filter(must_not=[_expression(part)])


def _condition(condition: Condition) -> qe.FieldCondition | qe.Filter:
    field, operator = condition.field, condition.operator
    kind = kind_of_field(condition)
    if operator is Operator.EXISTS:
        empty = qe.Filter(must=[qe.IsEmptyCondition(field)])
        return qe.Filter(must_not=[empty]) if condition.value else empty
    if kind is FieldKind.KEYWORD:
        return _text_condition(condition, [keyword(str(value)) for value in wanted_of(condition)])
    return _number_condition(condition, kind, numbers_of(condition))


def _text_condition(condition: Condition, texts: list[str]) -> qe.FieldCondition:
    field = condition.field
    match condition.operator:
        case Operator.EQ | Operator.IN:
            return _match_any(field, texts)
        case Operator.CONTAINS:
            return qe.FieldCondition(key=field, match=qe.MatchSubstring(texts[0]))
        case Operator.PREFIX:
            return qe.FieldCondition(key=field, match=qe.MatchPrefix(texts[0]))
        case _:
            raise unfit(condition)


def _number_condition(condition: Condition, kind: FieldKind, numbers: list[float]) -> qe.FieldCondition | qe.Filter:
    field = condition.field
    match condition.operator:
        case Operator.GT:
            return qe.FieldCondition(key=field, range=qe.RangeFloat(gt=max(numbers)))
        case Operator.GTE:
            return qe.FieldCondition(key=field, range=qe.RangeFloat(gte=max(numbers)))
        case Operator.LT:
            return qe.FieldCondition(key=field, range=qe.RangeFloat(lt=min(numbers)))
        case Operator.LTE:
            return qe.FieldCondition(key=field, range=qe.RangeFloat(lte=min(numbers)))
        case Operator.EQ | Operator.IN if kind is FieldKind.INTEGER:
            return _match_any(field, [int(number) for number in numbers if number == int(number)])
        case Operator.EQ | Operator.IN:
            ranges = [qe.FieldCondition(key=field, range=qe.RangeFloat(gte=one, lte=one)) for one in numbers]
            return qe.Filter(min_should=qe.MinShould(list(ranges), 1))
        case _:
            raise unfit(condition)


def _match(field: str, value: str | int) -> qe.FieldCondition:
    return qe.FieldCondition(key=field, match=qe.MatchValue(value))


def _match_any(field: str, values: list[str] | list[int]) -> qe.FieldCondition:
    return qe.FieldCondition(key=field, match=qe.MatchAny(values))
