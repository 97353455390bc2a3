"""The filter language: its fields and operators, its JSON form, and its translation for vector stores.

A filter is a condition `{"field", "operator", "value"}`, or a group of filters: `{"all": […]}`, `{"any": […]}`, `{"not": …}`. Fields
are those in `FIELDS` and `metadata.<key>`. Anything else raises `InvalidFilter` and never reaches a store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar, cast

from citewell.errors import InvalidFilter, cut
from citewell.ports.points import METADATA_KINDS, FieldKind, metadata_path
from citewell.text.spelling import suggestion
from citewell.types import (
    AllOf,
    AnyOf,
    Condition,
    Expression,
    Filter,
    FilterValue,
    InferredFilter,
    JsonObject,
    JsonValue,
    MetadataKey,
    MetadataKind,
    Negation,
    Operator,
    SearchRequest,
    conditions_in,
)
from citewell.types.metadata_values import DAY, MAX_NUMBER, is_day, kind_of, seconds_of
from citewell.types.names import name_spellings

Scalar: TypeAlias = str | int | float | bool
T = TypeVar("T")

METADATA_PREFIX = "metadata."
# Field of the language → field of the payload.
_PAYLOAD_NAMES: dict[str, str] = {
    "filename": "filename",
    "extension": "extension",
    "type": "file_type",
    "category": "category",
    "language": "language",
    "page": "page",
    "slide": "slide",
    "sheet": "sheet",
    "row": "row",
    "tag": "tag",
    "date": "date",
    "uploaded_at": "uploaded_at",
    "thread": "thread",
    "project": "project",
    "identifier": "identifier",
}
_INTEGERS = {"page", "slide", "row"}
_DATES = {"date", "uploaded_at"}
FIELDS: dict[str, FieldKind] = {
    name: FieldKind.INTEGER if name in _INTEGERS else FieldKind.DATE if name in _DATES else FieldKind.KEYWORD
    for name in _PAYLOAD_NAMES
}
PASSAGE_FIELDS = frozenset({"page", "slide", "sheet", "row"})
"""Fields of passages only; they cannot filter a list of files."""

_NAMES = frozenset({"filename", "identifier", "project"})
_EQUAL = frozenset({Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN, Operator.EXISTS})
_ORDER = frozenset({Operator.GT, Operator.GTE, Operator.LT, Operator.LTE})
OPERATORS: dict[FieldKind, frozenset[Operator]] = {
    FieldKind.KEYWORD: _EQUAL | {Operator.CONTAINS, Operator.PREFIX},
    FieldKind.INTEGER: _EQUAL | _ORDER,
    FieldKind.NUMBER: _EQUAL | _ORDER,
    FieldKind.DATE: _EQUAL | _ORDER,
}
_METADATA_OPERATORS: dict[MetadataKind, frozenset[Operator]] = {
    kind: _EQUAL if kind is MetadataKind.BOOLEAN else OPERATORS[stored] for kind, stored in METADATA_KINDS.items()
}
_MANY = frozenset({Operator.IN, Operator.NOT_IN})
# Type names in error messages; for metadata see `MetadataKind`.
_TYPES: dict[FieldKind, str] = {
    FieldKind.KEYWORD: "text",
    FieldKind.INTEGER: "whole number",
    FieldKind.NUMBER: "number",
    FieldKind.DATE: "date",
}
_NEGATIVE = {Operator.NE: Operator.EQ, Operator.NOT_IN: Operator.IN}
MAX_CONDITIONS = 64
MAX_DEPTH = 8
MAX_PARTS = 256
MAX_VALUES = 256
MAX_VALUE_LENGTH = 4_096
_MIN_LEGACY_DAY, _MAX_LEGACY_DAY = 1_01_01, 9999_12_31


def build_filter(request: SearchRequest, scope: Filter, inferred: Sequence[Expression] = ()) -> Filter:
    """The resolved scope narrowed by a request's filters. Raises `InvalidFilter` for an invalid condition."""
    conditions = (*request.conditions, *inferred)
    validate_all(conditions)
    narrowed = tuple(lowered(condition) for condition in conditions)
    return replace(scope, owner_id=request.owner_id, types=request.types, conditions=narrowed)


def parse_filters(data: object) -> tuple[Expression, ...]:
    """Parse filters from JSON: a list (all must match), a single filter, or None.

    Raises `InvalidFilter` for anything else.
    """
    if data is None:
        return ()
    if isinstance(data, Mapping):
        return (_parsed(cast(Mapping[str, object], data), 0),)
    if isinstance(data, Sequence) and not isinstance(data, str):
        rows = cast(Sequence[object], data)
        if len(rows) > MAX_PARTS:
            raise InvalidFilter(f"A list can hold at most {MAX_PARTS} filters.")
        found = tuple(_parsed(row, 0) for row in rows)
        validate_all(found)
        return found
    raise InvalidFilter("Filters must be a list of conditions and groups, or a single one.")


def as_filters(given: Iterable[Expression] | JsonValue) -> tuple[Expression, ...]:
    """Normalize filters given as expressions or as JSON. Raises `InvalidFilter` for anything else."""
    if isinstance(given, Condition | AllOf | AnyOf | Negation):
        given = (given,)
    if given is None or isinstance(given, str | int | float | Mapping):
        return parse_filters(given)
    rows = list(cast(Iterable[object], given))
    if all(isinstance(row, Condition | AllOf | AnyOf | Negation) for row in rows):
        found = tuple(cast(list[Expression], rows))
        validate_all(found)
        return found
    return parse_filters(rows)


def to_json(expression: Expression) -> JsonValue:
    """The form that `parse_filters` reads."""
    match expression:
        case Condition(field, operator, value):
            return {
                "field": field,
                "operator": operator.value,
                "value": list(value) if isinstance(value, tuple) else value,
            }
        case AllOf(parts):
            return {"all": [to_json(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [to_json(part) for part in parts]}
        case Negation(part):
            return {"not": to_json(part)}


def inferred_to_json(inferred: InferredFilter) -> JsonObject:
    """The JSON of an inferred filter in answers; `filter` is in the form that `parse_filters` reads."""
    return {
        "id": inferred.id,
        "label": inferred.label,
        "words": inferred.words,
        "filter": to_json(inferred.expression),
        "applied": inferred.applied,
    }


def mapped(expression: Expression, change: Callable[[Condition], Expression]) -> Expression:
    """The expression with `change` applied to every condition."""
    match expression:
        case Condition():
            return change(expression)
        case AllOf(parts):
            return AllOf(tuple(mapped(part, change) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(mapped(part, change) for part in parts))
        case Negation(part):
            return Negation(mapped(part, change))


def validate_all(expressions: Sequence[Expression]) -> None:
    """Raise `InvalidFilter` for an invalid condition, too many conditions, or groups nested too deep."""
    if max((_depth(one, MAX_DEPTH + 1) for one in expressions), default=0) > MAX_DEPTH:
        raise InvalidFilter(f"Filter groups can be nested at most {MAX_DEPTH} deep.")
    for count, condition in enumerate(conditions_in(expressions), 1):
        if count > MAX_CONDITIONS:
            raise InvalidFilter(f"At most {MAX_CONDITIONS} conditions can be combined.")
        validate(condition)


def validate(condition: Condition) -> None:
    """Raise `InvalidFilter` unless the field, the operator and every value are valid."""
    field, operator = condition.field, condition.operator
    key = metadata_key(field)
    if key is None and field not in FIELDS:
        raise _unknown_field(field)
    if operator is Operator.EXISTS:
        if not isinstance(condition.value, bool):
            raise InvalidFilter(f"`exists` on {cut(field)!r} takes true or false.", allowed=["boolean"])
        return
    if key is None and operator not in OPERATORS[FIELDS[field]]:
        raise _unsupported(field, operator, OPERATORS[FIELDS[field]])
    many = isinstance(condition.value, tuple)
    if many != (operator in _MANY):
        raise InvalidFilter(
            "`in` and `not_in` take a list of values; every other operator takes a single value.",
            allowed=["list"] if operator in _MANY else ["single value"],
        )
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if not 0 < len(values) <= MAX_VALUES:
        raise InvalidFilter(f"`{operator.value}` takes 1 to {MAX_VALUES} values.")
    for value in values:
        if key is None:
            _validate_value(field, FIELDS[field], value)
        else:
            _validate_metadata_value(field, operator, value)


def validate_keys(expressions: Sequence[Expression], known: Sequence[MetadataKey]) -> None:
    """Raise `InvalidFilter` for a metadata key that no file has, or a type that no file has under it. `exists` may name any key."""
    keys = {key.name: key for key in known}
    for condition in conditions_in(expressions):
        name = metadata_key(condition.field)
        if name is None or condition.operator is Operator.EXISTS:
            continue
        if name not in keys:
            allowed = sorted(keys)[:MAX_PARTS]
            raise InvalidFilter(
                f"No file has the metadata key {cut(name)!r}. {suggestion(name, allowed[:32], quote='')}",
                allowed=allowed,
            )
        kinds = keys[name].kinds
        values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        wrong = [value for value in values if _kind(condition.operator, value) not in kinds]
        if wrong:
            held = sorted(kind.value for kind in kinds)
            raise InvalidFilter(
                f"{cut(condition.field)!r} holds values of type {' or '.join(held)}, not {_kind(condition.operator, wrong[0]).value}.",
                allowed=cast(JsonValue, held),
            )


def metadata_key(field: str) -> str | None:
    """The key that a field `metadata.<key>` names; None for any other field."""
    return (
        field[len(METADATA_PREFIX) :]
        if len(field) > len(METADATA_PREFIX) and field.startswith(METADATA_PREFIX)
        else None
    )


def lowered(expression: Expression) -> Expression:
    """A valid expression in the form stores evaluate: payload fields, positive operators, dates as seconds."""
    return mapped(expression, _lowered)


def day_or_instant(value: Scalar) -> tuple[float, float]:
    """Start and end of a date value, in seconds since 1970; equal for an instant.

    A whole number is a day in the form YYYYMMDD.
    """
    text = value if isinstance(value, str) else legacy_day(value)
    at = seconds_of(text.strip())
    assert at is not None, "validated before"
    return at, at + DAY if is_day(text.strip()) else at


def legacy_day(value: Scalar) -> str:
    """The whole number YYYYMMDD as YYYY-MM-DD; empty for any other value."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else -1
    if not _MIN_LEGACY_DAY <= number <= _MAX_LEGACY_DAY:
        return ""
    return f"{number // 10_000:04d}-{number // 100 % 100:02d}-{number % 100:02d}"


def _parsed(data: object, depth: int) -> Expression:
    """Parse a filter nested in `depth` groups."""
    if not isinstance(data, Mapping):
        raise InvalidFilter("A filter must be an object: a condition with `field`, `operator` and `value`, or a group.")
    row = cast(Mapping[str, object], data)
    is_group = set(row) in ({"all"}, {"any"}, {"not"})
    if is_group and depth >= MAX_DEPTH:
        raise InvalidFilter(f"Filter groups can be nested at most {MAX_DEPTH} deep.")
    if set(row) in ({"all"}, {"any"}):
        name, parts = next(iter(row.items()))
        if (
            not isinstance(parts, Sequence)
            or isinstance(parts, str)
            or not 0 < len(cast(Sequence[object], parts)) <= MAX_PARTS
        ):
            raise InvalidFilter(f"`{name}` takes a list of 1 to {MAX_PARTS} filters.")
        found = tuple(_parsed(part, depth + 1) for part in cast(Sequence[object], parts))
        return AllOf(found) if name == "all" else AnyOf(found)
    if set(row) == {"not"}:
        return Negation(_parsed(row["not"], depth + 1))
    return _parsed_condition(row)


def _parsed_condition(row: Mapping[str, object]) -> Condition:
    if unknown := sorted(set(row) - {"field", "operator", "value"}):
        raise InvalidFilter(
            f"A filter has no {cut(unknown[0])!r}. A condition has `field`, `operator` and `value`; a group is `all`, `any` or `not` alone."
        )
    field, operator, value = row.get("field"), row.get("operator", Operator.EQ.value), row.get("value")
    if not isinstance(field, str):
        raise InvalidFilter(
            "A condition needs a `field` of type string.", allowed=[*sorted(FIELDS), f"{METADATA_PREFIX}<key>"]
        )
    if not isinstance(operator, str) or operator not in set(Operator):
        raise InvalidFilter(f"There is no operator {str(operator)[:32]!r}.", allowed=[one.value for one in Operator])
    if metadata_key(field) is None and field not in FIELDS:
        raise _unknown_field(field)
    if value is None and operator == Operator.EXISTS:
        value = True
    many = isinstance(value, Sequence) and not isinstance(value, str)
    values = cast(Sequence[object], value) if many else (value,)
    if not all(isinstance(one, str | int | float) for one in values):
        raise InvalidFilter(
            f"The `value` of {cut(field)!r} must be a text, a number, true or false, or a list of them.",
            allowed=["text", "number", "boolean", "list"],
        )
    condition = Condition(field, Operator(operator), cast(FilterValue, tuple(values) if many else value))
    validate(condition)
    return condition


def _depth(expression: Expression, most: int) -> int:
    """Nesting depth of the groups, 0 for a single condition; counted up to `most`."""
    if most <= 0 or isinstance(expression, Condition):
        return 0
    parts = (expression.part,) if isinstance(expression, Negation) else expression.parts
    return 1 + max((_depth(part, most - 1) for part in parts), default=0)


def _unknown_field(field: str) -> InvalidFilter:
    return InvalidFilter(
        f"A search cannot be filtered by {field[:64]!r}.", allowed=[*sorted(FIELDS), f"{METADATA_PREFIX}<key>"]
    )


def _unsupported(field: str, operator: Operator, allowed: frozenset[Operator]) -> InvalidFilter:
    return InvalidFilter(
        f"The field {cut(field)!r} does not support the operator {operator.value!r}.",
        allowed=cast(JsonValue, sorted(one.value for one in allowed)),
    )


def _validate_value(field: str, kind: FieldKind, value: Scalar) -> None:
    if kind is FieldKind.KEYWORD:
        _validate_text(field, value)
    elif kind is FieldKind.DATE:
        text = value.strip() if isinstance(value, str) else legacy_day(value)
        if seconds_of(text) is None:
            raise _wrong_type(kind, f"The field {field!r} takes a date such as 2025-01-31, or an ISO 8601 time.")
    elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong_type(kind, f"The field {field!r} takes a number.")
    elif int(value) != value or abs(value) > MAX_NUMBER:
        raise _wrong_type(kind, f"The field {field!r} takes a whole number.")


def _wrong_type(kind: FieldKind, message: str) -> InvalidFilter:
    return InvalidFilter(message, allowed=[_TYPES[kind]])


def _validate_text(field: str, value: Scalar) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_VALUE_LENGTH or "\x00" in value:
        raise _wrong_type(
            FieldKind.KEYWORD,
            f"The field {cut(field)!r} takes text of 1 to {MAX_VALUE_LENGTH} characters.",
        )


def _validate_metadata_value(field: str, operator: Operator, value: Scalar) -> None:
    kind = _kind(operator, value)
    if operator not in _METADATA_OPERATORS[kind]:
        raise InvalidFilter(
            f"{operator.value!r} on {cut(field)!r} does not take a value of type {kind.value}.",
            allowed=cast(JsonValue, sorted(one.value for one in _METADATA_OPERATORS[kind])),
        )
    if kind is MetadataKind.TEXT:
        _validate_text(field, value)
    elif kind is MetadataKind.NUMBER and (not math.isfinite(float(value)) or abs(float(value)) > MAX_NUMBER):
        raise InvalidFilter(f"The number given for {cut(field)!r} is too large.")


def _kind(operator: Operator, value: Scalar) -> MetadataKind:
    """The metadata type that a value is compared with; text for `contains` and `prefix`."""
    if operator in (Operator.CONTAINS, Operator.PREFIX) and isinstance(value, str):
        return MetadataKind.TEXT
    return kind_of(value.strip() if isinstance(value, str) else value)


def _lowered(condition: Condition) -> Expression:
    operator = condition.operator
    if operator in _NEGATIVE:
        return Negation(_lowered(Condition(condition.field, _NEGATIVE[operator], condition.value)))
    key = metadata_key(condition.field)
    if operator is Operator.EXISTS:
        paths = (
            [_PAYLOAD_NAMES[condition.field]] if key is None else [metadata_path(key, kind) for kind in MetadataKind]
        )
        there = AnyOf(tuple(Condition(path, Operator.EXISTS, True) for path in paths))
        return there if condition.value else Negation(there)
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if key is None:
        path, kind = _PAYLOAD_NAMES[condition.field], FIELDS[condition.field]
        if condition.field in _NAMES:
            values = _spelled(values)
            if operator is not Operator.IN and len(values) > 1:
                return _either([_compared(path, kind, operator, (value,)) for value in values])
        return _compared(path, kind, operator, values)
    by_kind: dict[MetadataKind, list[Scalar]] = {}
    for value in values:
        by_kind.setdefault(_kind(operator, value), []).append(value)
    return _either(
        [_compared(metadata_path(key, kind), METADATA_KINDS[kind], operator, some) for kind, some in by_kind.items()]
    )


def _spelled(values: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The values in every Unicode normal form in which names may be stored."""
    spelled: list[Scalar] = []
    for value in values:
        spelled += [value] if not isinstance(value, str) or value.isascii() else name_spellings(value)
    return tuple(dict.fromkeys(spelled))


def _compared(path: str, kind: FieldKind, operator: Operator, values: Sequence[Scalar]) -> Expression:
    """A positive comparison with values of one kind."""
    if kind is FieldKind.DATE:
        return _either([_dated(path, operator, value) for value in values])
    if kind is FieldKind.NUMBER and operator in (Operator.EQ, Operator.IN):
        return _either([_between(path, float(value), float(value)) for value in values])
    plain = tuple(_plain(value) for value in values)
    return Condition(path, operator, plain if operator is Operator.IN else plain[0])


def _dated(path: str, operator: Operator, value: Scalar) -> Expression:
    """Compare with an instant or a 24-hour day: `eq` matches all of a day, `gt` starts after it, `lte` includes it."""
    start, end = day_or_instant(value)
    match operator:
        case Operator.GT:
            return Condition(path, Operator.GT, start) if start == end else Condition(path, Operator.GTE, end)
        case Operator.LTE:
            return Condition(path, Operator.LTE, end) if start == end else Condition(path, Operator.LT, end)
        case Operator.GTE | Operator.LT:
            return Condition(path, operator, start)
        case _:
            if start == end:
                return _between(path, start, end)
            return AllOf((Condition(path, Operator.GTE, start), Condition(path, Operator.LT, end)))


def _between(path: str, low: float, high: float) -> Expression:
    return AllOf((Condition(path, Operator.GTE, low), Condition(path, Operator.LTE, high)))


def _either(parts: Sequence[Expression]) -> Expression:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _plain(value: Scalar) -> str | int | float:
    """A value in its payload form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
