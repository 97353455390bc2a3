"""Compiles typed filters to SQL conditions on point columns and payloads.

All values are bound; only field names are written out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from citewell.filters.predicates import kind_of_field, numbers_of, unfit, wanted_of
from citewell.ports.points import FieldKind, keyword
from citewell.types import AllOf, AnyOf, Condition, Expression, Filter, JsonValue, Negation, Operator

_ORDERS = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}


@dataclass(slots=True)
class BoundSql:
    """SQL with its parameters, numbered in the order of binding."""

    payloads: str
    """The table with the points' payloads."""
    values: list[object] = field(default_factory=list[object])

    def bind(self, value: object, kind: str = "") -> str:
        """Bind a value and return its placeholder, cast to a type if one is given."""
        self.values.append(value)
        return f"${len(self.values)}{kind and '::'}{kind}"

    def where(self, filter: Filter) -> str:
        """The SQL condition of `filter` on points. Raises `InvalidFilter` for an unknown field."""
        owner = f"owner_id = {self.bind(filter.owner_id)}"
        parts = [owner]
        if filter.resource_ids is not None:
            parts.append(f"resource_id = ANY({self.bind(list(filter.resource_ids), 'text[]')})")
        if filter.types is not None:
            parts.append(f"type = ANY({self.bind([kind.value for kind in filter.types], 'text[]')})")
        if filter.conditions:
            said = " AND ".join([owner, *(self._expression(one) for one in filter.conditions)])
            parts.append(f"id IN (SELECT id FROM {self.payloads} WHERE {said})")
        return " AND ".join(parts)

    def _expression(self, expression: Expression) -> str:
        match expression:
            case Condition():
                return self._condition(expression)
            case AllOf(parts):
                return _joined([self._expression(part) for part in parts], "AND", "TRUE")
            case AnyOf(parts):
                return _joined([self._expression(part) for part in parts], "OR", "FALSE")
            case Negation(part):
                return f"(NOT {self._expression(part)})"

    def _condition(self, condition: Condition) -> str:
        kind = kind_of_field(condition)
        path = condition.field.split(".")
        if condition.operator is Operator.EXISTS:
            present = f"coalesce(payload #> {self.bind(path, 'text[]')}, 'null') NOT IN ('null', '[]', '{{}}')"
            return f"({present})" if condition.value else f"(NOT {present})"
        if kind is FieldKind.KEYWORD:
            return self._of_texts(path, condition, [keyword(str(value)) for value in wanted_of(condition)])
        return self._of_numbers(path, condition, numbers_of(condition))

    def _of_texts(self, path: list[str], condition: Condition, texts: list[str]) -> str:
        match condition.operator:
            case Operator.EQ | Operator.IN:
                return _joined([self._holds(path, text) for text in texts], "OR", "FALSE")
            case Operator.CONTAINS:
                return self._any_text(path, f"strpos(one #>> '{{}}', {self.bind(texts[0], 'text')}) > 0")
            case Operator.PREFIX:
                return self._any_text(path, f"starts_with(one #>> '{{}}', {self.bind(texts[0], 'text')})")
            case _:
                raise unfit(condition)

    def _of_numbers(self, path: list[str], condition: Condition, numbers: list[float]) -> str:
        if condition.operator in (Operator.EQ, Operator.IN):
            return _joined([self._holds(path, number) for number in numbers], "OR", "FALSE")
        if (order := _ORDERS.get(condition.operator)) is None:
            raise unfit(condition)
        limit = max(numbers) if order.startswith(">") else min(numbers)
        bound = self.bind(orjson.dumps({"limit": limit}).decode(), "jsonb")
        return f"coalesce(jsonb_path_exists(payload, '{_json_path(path)} ? (@ {order} $limit)', {bound}, true), FALSE)"

    def _holds(self, path: list[str], value: JsonValue) -> str:
        """SQL for whether a field equals a value or is a list containing it; the payload index serves both."""
        alone, listed = value, [value]
        for name in reversed(path):
            alone, listed = {name: alone}, {name: listed}
        both = [self.bind(orjson.dumps(one).decode(), "jsonb") for one in (alone, listed)]
        return f"(payload @> {both[0]} OR payload @> {both[1]})"

    def _any_text(self, path: list[str], condition: str) -> str:
        return f"EXISTS (SELECT 1 FROM jsonb_path_query(payload, '{_json_path(path)}') AS one WHERE {condition})"


def _joined(parts: list[str], word: str, empty: str) -> str:
    return f"({f' {word} '.join(parts)})" if parts else empty


def _json_path(path: list[str]) -> str:
    """The JSON path to a field's values, unpacking lists. Names are those of `field_kind`: letters, digits and `_`."""
    return "$" + "".join(f'."{name}"' for name in path) + "[*]"
