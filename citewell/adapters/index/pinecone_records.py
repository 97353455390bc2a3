"""Converts payloads and filters to Pinecone's metadata and filters.

Metadata is flat: strings, numbers and lists of strings, at most 40 kB per record. An integer field is therefore a list
of strings, with its minimum and maximum in separate fields for comparisons. A field cannot be removed from a record; an
empty one holds `ABSENT`. Source: https://docs.pinecone.io/guides/index-data/indexing-overview#metadata
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from citewell.filters.predicates import kind_of_field, numbers_of, unfit, wanted_of
from citewell.ports.points import METADATA, FieldKind, field_kind, keyword
from citewell.types import AllOf, AnyOf, Condition, Expression, Filter, JsonObject, JsonValue, Negation, Operator

MAX_METADATA_BYTES = 40_000
# The chunk's id in the metadata, because filters cannot list record ids.
CHUNK = "chunk_id"
NAME = "name"
TEXT = "chunk_text"
# Never a stored value, because keywords are stripped.
ABSENT = " "
_MIN, _MAX = "_min", "_max"
_ORDERS = {Operator.GT: "$gt", Operator.GTE: "$gte", Operator.LT: "$lt", Operator.LTE: "$lte"}
_OPPOSITE = {
    Operator.GT: Operator.LTE,
    Operator.GTE: Operator.LT,
    Operator.LT: Operator.GTE,
    Operator.LTE: Operator.GT,
}
# Fields with at most one value, for which "not equal" is unambiguous.
_SINGLE = frozenset({"filename", "extension", "language", "file_type", "identifier", "thread", "sheet"})
# Dropped first if a record would be too large.
_LARGE = ("tag", "project", "row")


def metadata_of(payload: JsonObject) -> dict[str, Any]:
    """The metadata of a payload."""
    fields: dict[str, Any] = {}
    for key, value in _flat(payload).items():
        if value is None or value == [] or value == {}:
            continue
        if field_kind(key) is FieldKind.INTEGER:
            numbers = _numbers(value)
            fields[_name(key)] = [_text(number) for number in numbers]
            fields[_name(key) + _MIN], fields[_name(key) + _MAX] = min(numbers), max(numbers)
        else:
            fields[_name(key)] = value
    return fields


def bounded(metadata: Mapping[str, Any], room: int) -> dict[str, Any]:
    """The metadata, reduced to `room` bytes: custom metadata is dropped first, then long lists."""
    kept = dict(metadata)
    dropped = [*(name for name in metadata if name.startswith(f"{METADATA}_")), *_LARGE]
    while dropped and len(orjson.dumps(kept)) > room:
        name = dropped.pop(0)
        for one in (name, name + _MIN, name + _MAX):
            kept.pop(one, None)
    return kept


def changes_of(before: JsonObject, after: JsonObject, room: int) -> dict[str, Any]:
    """The metadata to set for a changed payload; empty if nothing changed."""
    old, new = bounded(metadata_of(before), room), bounded(metadata_of(after), room)
    gone = {name: ABSENT for name in old if name not in new}
    return {name: value for name, value in new.items() if old.get(name) != value} | gone


def expresses(expression: Expression) -> bool:
    """Whether a Pinecone filter can match exactly the same points."""
    match expression:
        case Condition():
            return expression.operator not in (Operator.CONTAINS, Operator.PREFIX)
        case AllOf(parts) | AnyOf(parts):
            return bool(parts) and all(expresses(part) for part in parts)
        case Negation(Condition() as condition):
            if condition.operator is Operator.EXISTS or condition.operator in _ORDERS:
                return True
            return condition.field in _SINGLE and condition.operator in (Operator.EQ, Operator.IN)
        case Negation():
            return False


def filter_of(filter: Filter, ids: Sequence[str] | None = None) -> dict[str, Any]:
    """The Pinecone filter; every condition must satisfy `expresses`. Raises `InvalidFilter` for an unknown field."""
    parts: list[dict[str, Any]] = [{"owner_id": {"$eq": filter.owner_id}}]
    if filter.resource_ids is not None:
        parts.append({"resource_id": {"$in": list(filter.resource_ids)}})
    if filter.types is not None:
        parts.append({"type": {"$in": [kind.value for kind in filter.types]}})
    if ids is not None:
        parts.append({CHUNK: {"$in": list(ids)}})
    return {"$and": [*parts, *(_expression(one) for one in filter.conditions)]}


def _expression(expression: Expression) -> dict[str, Any]:
    match expression:
        case Condition():
            return _condition(expression)
        case AllOf(parts):
            return {"$and": [_expression(part) for part in parts]}
        case AnyOf(parts):
            return {"$or": [_expression(part) for part in parts]}
        case Negation(Condition() as condition):
            return _not(condition)
        case Negation():
            raise ValueError("Pinecone cannot negate groups.")


def _condition(condition: Condition) -> dict[str, Any]:
    kind, name = kind_of_field(condition), _name(condition.field)
    if condition.operator is Operator.EXISTS:
        return _present(name) if condition.value else _absent(name)
    if condition.operator in (Operator.EQ, Operator.IN):
        return {name: {"$in": _wanted(condition, kind)}}
    if kind is FieldKind.KEYWORD or condition.operator not in _ORDERS:
        raise unfit(condition)
    order, number = _ORDERS[condition.operator], numbers_of(condition)[0]
    if kind is FieldKind.INTEGER:
        name += _MAX if order.startswith("$g") else _MIN
    return {name: {order: number}}


def _not(condition: Condition) -> dict[str, Any]:
    kind, name = kind_of_field(condition), _name(condition.field)
    if condition.operator is Operator.EXISTS:
        return _absent(name) if condition.value else _present(name)
    if condition.operator not in _ORDERS:
        return {"$or": [{name: {"$exists": False}}, {name: {"$nin": _wanted(condition, kind)}}]}
    if kind is FieldKind.KEYWORD:
        raise unfit(condition)
    # No value exceeds n if the maximum does not.
    opposite, number = _ORDERS[_OPPOSITE[condition.operator]], numbers_of(condition)[0]
    if kind is FieldKind.INTEGER:
        name += _MAX if condition.operator in (Operator.GT, Operator.GTE) else _MIN
    return {"$or": [*_absent(name)["$or"], {name: {opposite: number}}]}


def _wanted(condition: Condition, kind: FieldKind) -> list[Any]:
    if kind is FieldKind.KEYWORD:
        return [keyword(str(value)) for value in wanted_of(condition)]
    numbers = numbers_of(condition)
    return [_text(number) for number in numbers] if kind is FieldKind.INTEGER else numbers


def _present(name: str) -> dict[str, Any]:
    return {"$and": [{name: {"$exists": True}}, {name: {"$ne": ABSENT}}]}


def _absent(name: str) -> dict[str, Any]:
    return {"$or": [{name: {"$exists": False}}, {name: {"$eq": ABSENT}}]}


def _flat(payload: JsonObject) -> dict[str, JsonValue]:
    inner = payload.get(METADATA)
    own = {key: value for key, value in payload.items() if key != METADATA}
    return own | {f"{METADATA}.{key}": value for key, value in (inner.items() if isinstance(inner, Mapping) else ())}


def _name(field: str) -> str:
    return field.replace(".", "_")


def _numbers(value: JsonValue) -> list[float]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [one for one in values if isinstance(one, int | float)]


def _text(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)
