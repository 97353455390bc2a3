"""What a query is read as: the filters that it states, and the words that are left to search for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from citewell.filters import METADATA_PREFIX
from citewell.types import AllOf, AnyOf, Condition, Expression, FilterValue, InferredFilter, Negation, Operator

_SPACE = re.compile(r"\s+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SIGNS = {
    Operator.EQ: ":",
    Operator.IN: ":",
    Operator.NE: " is not",
    Operator.NOT_IN: " is not",
    Operator.GT: " >",
    Operator.GTE: " ≥",
    Operator.LT: " <",
    Operator.LTE: " ≤",
    Operator.CONTAINS: " contains",
    Operator.PREFIX: " begins with",
}
MAX_LABEL_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Stated:
    """A filter that `query[start:end]` states about `field`. These words are cut out of what is searched for, unless `stays`."""

    start: int
    end: int
    field: str
    expression: Expression
    label: str = ""
    stays: bool = False


@dataclass(frozen=True, slots=True)
class QueryReading:
    """The filters of a query and the rest of it, which is never empty of words: then it is the query."""

    filters: tuple[InferredFilter, ...] = ()
    semantic: str = ""


def reading_of(query: str, stated: Sequence[Stated], ignored: Sequence[str] | bool = False) -> QueryReading:
    """One filter for each field, those that are ignored left out, and the query without the words that state the others."""
    filters: dict[str, InferredFilter] = {}
    for one in sorted(stated, key=lambda part: (part.start, part.end)):
        if ignored is True or (ignored and one.field in ignored):
            continue
        words = _SPACE.sub(" ", query[one.start : one.end]).strip()
        new = InferredFilter(
            id=one.field,
            label=_cut(one.label or label_of(one.expression)),
            words=_cut(words),
            expression=one.expression,
        )
        known = filters.get(one.field)
        filters[one.field] = new if known is None else _joined(known, new)
    return QueryReading(tuple(filters.values()), query)


def label_of(expression: Expression) -> str:
    """A filter in words, such as `page: 2 to 4`."""
    match expression:
        case Condition(field, Operator.EXISTS, value):
            return f"{_plain(field)}: {'any' if value else 'none'}"
        case Condition(field, operator, value):
            return f"{_plain(field)}{_SIGNS[operator]} {_value(value)}"
        case AllOf(parts):
            return _range(parts) or " and ".join(label_of(part) for part in parts)
        case AnyOf(parts):
            return " or ".join(label_of(part) for part in parts)
        case Negation(part):
            return f"not {label_of(part)}"


def _range(parts: Sequence[Expression]) -> str:
    """`page: 2 to 4` for two bounds of one field; empty for anything else."""
    if len(parts) != 2 or not isinstance(low := parts[0], Condition) or not isinstance(high := parts[1], Condition):
        return ""
    if low.field != high.field or low.operator is not Operator.GTE or high.operator not in (Operator.LT, Operator.LTE):
        return ""
    first, last = _value(low.value), _value(high.value)
    if high.operator is Operator.LT:
        if not _DAY.fullmatch(last):
            return ""
        last = (date.fromisoformat(last) - timedelta(days=1)).isoformat()
    return f"{_plain(low.field)}: {first}" if first == last else f"{_plain(low.field)}: {first} to {last}"


def _joined(known: InferredFilter, new: InferredFilter) -> InferredFilter:
    """Both filters as one."""
    if known.expression == new.expression:
        return known
    return replace(
        known,
        label=_cut(f"{known.label} and {new.label}"),
        words=_cut(f"{known.words}, {new.words}"),
        expression=AllOf((known.expression, new.expression)),
    )


def _plain(field: str) -> str:
    return field.removeprefix(METADATA_PREFIX).replace("_", " ")


def _value(value: FilterValue) -> str:
    if isinstance(value, tuple):
        return ", ".join(_value(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LABEL_LENGTH else text[: MAX_LABEL_LENGTH - 1] + "…"
