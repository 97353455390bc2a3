"""The allow-list of filters. Anything not on it is an error and never reaches a store."""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.errors import InvalidFilter
from citewell.points import OWNER, PAYLOAD_FIELDS, RESOURCE, TYPE, FieldKind
from citewell.types import Condition, Filter, Operator, SearchRequest

FIELDS: dict[str, FieldKind] = {
    field: kind for field, kind in PAYLOAD_FIELDS.items() if field not in {OWNER, RESOURCE, TYPE}
}
OPERATORS: dict[FieldKind, frozenset[Operator]] = {
    FieldKind.KEYWORD: frozenset({Operator.EQ, Operator.IN}),
    FieldKind.INTEGER: frozenset(Operator),
}
MAX_CONDITIONS = 16
MAX_VALUES = 256
MAX_VALUE_LENGTH = 512


def build_filter(
    request: SearchRequest, resource_ids: tuple[str, ...] | None, inferred: Sequence[Condition] = ()
) -> Filter:
    """The filter of a request whose scope has been resolved. `InvalidFilter` for any condition that is not allowed."""
    conditions = (*request.conditions, *inferred)
    if len(conditions) > MAX_CONDITIONS:
        raise InvalidFilter(f"At most {MAX_CONDITIONS} conditions can be combined.")
    for condition in conditions:
        validate(condition)
    return Filter(owner_id=request.owner_id, resource_ids=resource_ids, types=request.types, conditions=conditions)


def validate(condition: Condition) -> None:
    """`InvalidFilter` unless the field, the operator and every value are allowed."""
    kind = FIELDS.get(condition.field)
    if kind is None:
        raise InvalidFilter(f"A search cannot be filtered by {condition.field[:64]!r}.", allowed=sorted(FIELDS))
    if condition.operator not in OPERATORS[kind]:
        raise InvalidFilter(
            f"The field {condition.field!r} does not support the operator {condition.operator.value!r}."
        )
    many = isinstance(condition.value, tuple)
    if many != (condition.operator is Operator.IN):
        raise InvalidFilter("A list of values goes with `in`, a single value with every other operator.")
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if not 0 < len(values) <= MAX_VALUES:
        raise InvalidFilter(f"`in` takes 1 to {MAX_VALUES} values.")
    for value in values:
        _validate_value(condition.field, kind, value)


def _validate_value(field: str, kind: FieldKind, value: object) -> None:
    if kind is FieldKind.KEYWORD:
        if not isinstance(value, str) or not value.strip() or len(value) > MAX_VALUE_LENGTH or "\x00" in value:
            raise InvalidFilter(f"The field {field!r} is compared with a text of 1 to {MAX_VALUE_LENGTH} characters.")
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidFilter(f"The field {field!r} is compared with a number.")
    if int(value) != value or abs(value) > 2**53:
        raise InvalidFilter(f"The field {field!r} is compared with a whole number.")
