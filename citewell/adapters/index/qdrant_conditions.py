"""Compiles typed filters to Qdrant conditions, for the embedded engine and the server, which differ in syntax only."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, TypeVar

from citewell.filters.predicates import kind_of_field, numbers_of, unfit, wanted_of
from citewell.ports.points import OWNER, RESOURCE, TYPE, FieldKind, keyword
from citewell.types import AllOf, AnyOf, Condition, Expression, Filter, Negation, Operator, conditions_in

Bound: TypeAlias = Literal["gt", "gte", "lt", "lte"]
C = TypeVar("C")
_BOUNDS: dict[Operator, Bound] = {
    Operator.GT: "gt",
    Operator.GTE: "gte",
    Operator.LT: "lt",
    Operator.LTE: "lte",
}


class Conditions(Protocol[C]):
    """Builds a Qdrant package's conditions on payload fields. Values are passed as values; nothing is ever parsed."""

    def all_of(self, parts: list[C]) -> C:
        """All parts hold; true without parts."""
        ...

    def any_of(self, parts: list[C]) -> C:
        """At least one part holds; false without parts."""
        ...

    def none_of(self, part: C) -> C:
        """The part does not hold."""
        ...

    def one_of(self, field: str, values: list[str] | list[int]) -> C:
        """The field has one of the values."""
        ...

    def substring(self, field: str, text: str) -> C:
        """A text in the field contains `text`."""
        ...

    def prefix(self, field: str, text: str) -> C:
        """A text in the field begins with `text`."""
        ...

    def within(self, field: str, bounds: dict[Bound, float]) -> C:
        """A number in the field is within all bounds."""
        ...

    def empty(self, field: str) -> C:
        """The field has no value."""
        ...


def compiled(filter: Filter, write: Conditions[C], *, is_owned: bool = False) -> C:
    """The conditions of `filter`, all of which must hold. Raises `InvalidFilter` for an unknown field.

    is_owned: all points are the owner's, so the owner condition is omitted
    """
    parts = [] if is_owned else [write.one_of(OWNER, [filter.owner_id])]
    if filter.resource_ids is not None:
        parts.append(write.one_of(RESOURCE, list(filter.resource_ids)))
    if filter.types is not None:
        parts.append(write.one_of(TYPE, [kind.value for kind in filter.types]))
    return write.all_of([*parts, *(_expression(one, write) for one in filter.conditions)])


def fields_of(filter: Filter) -> frozenset[str]:
    """The fields that the filter's conditions use."""
    return frozenset(condition.field for condition in conditions_in(filter.conditions))


def _expression(expression: Expression, write: Conditions[C]) -> C:
    match expression:
        case Condition():
            return _condition(expression, write)
        case AllOf(parts):
            return write.all_of([_expression(part, write) for part in parts])
        case AnyOf(parts):
            return write.any_of([_expression(part, write) for part in parts])
        case Negation(part):
            return write.none_of(_expression(part, write))


def _condition(condition: Condition, write: Conditions[C]) -> C:
    kind = kind_of_field(condition)
    if condition.operator is Operator.EXISTS:
        empty = write.empty(condition.field)
        return write.none_of(empty) if condition.value else empty
    if kind is FieldKind.KEYWORD:
        return _of_texts(condition, [keyword(str(value)) for value in wanted_of(condition)], write)
    return _of_numbers(condition, kind, numbers_of(condition), write)


def _of_texts(condition: Condition, texts: list[str], write: Conditions[C]) -> C:
    match condition.operator:
        case Operator.EQ | Operator.IN:
            return write.one_of(condition.field, texts)
        case Operator.CONTAINS:
            return write.substring(condition.field, texts[0])
        case Operator.PREFIX:
            return write.prefix(condition.field, texts[0])
        case _:
            raise unfit(condition)


def _of_numbers(condition: Condition, kind: FieldKind, numbers: list[float], write: Conditions[C]) -> C:
    field = condition.field
    if condition.operator in (Operator.EQ, Operator.IN):
        if kind is FieldKind.INTEGER:
            return write.one_of(field, [int(number) for number in numbers if number == int(number)])
        return write.any_of([write.within(field, {"gte": one, "lte": one}) for one in numbers])
    bound = _BOUNDS.get(condition.operator)
    if bound is None:
        raise unfit(condition)
    return write.within(field, {bound: max(numbers) if bound.startswith("g") else min(numbers)})
