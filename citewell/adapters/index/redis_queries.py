"""Compiles typed filters to Redis' query language (dialect 2).

Values are bound as parameters; only field names and numbers are written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import ge, gt, le, lt

from citewell.filters.predicates import kind_of_field, numbers_of, unfit, wanted_of
from citewell.ports.points import METADATA, RESOURCE, TYPE, FieldKind, keyword
from citewell.types import AllOf, AnyOf, Condition, Expression, Filter, Negation, Operator

PRESENT = "present"
"""The attribute that lists the fields present in a point, and `words` if it has any."""
PRESENT_METADATA = "present_metadata"
NEVER = f"@{PRESENT}:{{nothing}}"
ALWAYS = f"-{NEVER}"
_COMPARED = {Operator.GT: gt, Operator.GTE: ge, Operator.LT: lt, Operator.LTE: le}
_RANGES = {Operator.GT: "[({} +inf]", Operator.GTE: "[{} +inf]", Operator.LT: "[-inf ({}]", Operator.LTE: "[-inf {}]"}


def entry(field: str, value: object) -> str:
    """A metadata value as an entry in the metadata attribute: the field's name, then the value."""
    written = repr(float(value)) if isinstance(value, int | float) else str(value)
    return f"{field.removeprefix(f'{METADATA}.')}={written}"


def attribute(field: str) -> str:
    """The index attribute of a payload field."""
    return METADATA if is_metadata(field) else field


def is_metadata(field: str) -> bool:
    """Whether a field is metadata.

    All metadata shares one attribute, because adding an attribute makes Redis read every key.
    """
    return field.startswith(f"{METADATA}.")


def needs_vocabulary(condition: Condition) -> bool:
    """Whether a condition is resolved against the vocabulary: it becomes a query for the matching values."""
    if is_metadata(condition.field) and condition.operator in _COMPARED:
        return True
    return condition.operator in (Operator.PREFIX, Operator.CONTAINS)


@dataclass(slots=True)
class RedisQuery:
    """A query with its parameters, numbered in the order of binding.

    vocabulary: all values in the owner's points, by field, for conditions that need them, because Redis expands a
    prefix or substring to at most 200 terms
    """

    vocabulary: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    parameters: list[str | bytes] = field(default_factory=list[str | bytes])

    def bind(self, value: str | bytes) -> str:
        """Bind a value and return its placeholder."""
        name = f"p{len(self.parameters) // 2}"
        self.parameters += [name, value]
        return f"${name}"

    @property
    def bound(self) -> tuple[str | bytes | int, ...]:
        """The parameters as command arguments."""
        return ("PARAMS", len(self.parameters), *self.parameters) if self.parameters else ()

    def where(self, filter: Filter) -> str:
        """The query for `filter` in its owner's index. Raises `InvalidFilter` for an unknown field."""
        parts: list[str] = []
        if filter.resource_ids is not None:
            parts.append(self._one_of(RESOURCE, list(filter.resource_ids)))
        if filter.types is not None:
            parts.append(self._one_of(TYPE, [kind.value for kind in filter.types]))
        parts += [self._expression(one) for one in filter.conditions]
        return " ".join(parts) or ALWAYS

    def _expression(self, expression: Expression) -> str:
        match expression:
            case Condition():
                return self._condition(expression)
            case AllOf(parts):
                return f"({' '.join(self._expression(part) for part in parts) or ALWAYS})"
            case AnyOf(parts):
                return f"({' | '.join(self._expression(part) for part in parts) or NEVER})"
            case Negation(part):
                return f"(-{self._expression(part)})"

    def _condition(self, condition: Condition) -> str:
        kind = kind_of_field(condition)
        if condition.operator is Operator.EXISTS:
            names = PRESENT_METADATA if is_metadata(condition.field) else PRESENT
            has = f"@{names}:{{{self.bind(condition.field)}}}"
            return f"({has})" if condition.value else f"(-{has})"
        if kind is FieldKind.KEYWORD:
            return self._of_texts(condition, [keyword(str(value)) for value in wanted_of(condition)])
        numbers = numbers_of(condition)
        if not is_metadata(condition.field):
            return _of_numbers(condition, numbers)
        if condition.operator in (Operator.EQ, Operator.IN):
            return self._one_of(condition.field, [float(number) for number in numbers])
        compare = _COMPARED.get(condition.operator)
        if compare is None:
            raise unfit(condition)
        known = [float(one) for one in self.vocabulary[condition.field]]
        return self._one_of(condition.field, [one for one in known if any(compare(one, number) for number in numbers)])

    def _of_texts(self, condition: Condition, texts: list[str]) -> str:
        field = condition.field
        match condition.operator:
            case Operator.EQ | Operator.IN:
                return self._one_of(field, texts)
            case Operator.CONTAINS:
                return self._one_of(field, [one for one in self.vocabulary[field] if texts[0] in one])
            case Operator.PREFIX:
                return self._one_of(field, [one for one in self.vocabulary[field] if one.startswith(texts[0])])
            case _:
                raise unfit(condition)

    def _one_of(self, field: str, values: Sequence[str | float]) -> str:
        written = [entry(field, one) for one in values] if is_metadata(field) else [str(one) for one in values]
        bound = "|".join(self.bind(one) for one in written if one)
        return f"(@{attribute(field)}:{{{bound}}})" if bound else f"({NEVER})"


def _of_numbers(condition: Condition, numbers: list[float]) -> str:
    name = condition.field
    if condition.operator in (Operator.EQ, Operator.IN):
        return f"({' | '.join(f'@{name}:[{one!r} {one!r}]' for one in numbers) or NEVER})"
    form = _RANGES.get(condition.operator)
    if form is None:
        raise unfit(condition)
    limit = max(numbers) if condition.operator in (Operator.GT, Operator.GTE) else min(numbers)
    return f"(@{name}:{form.format(repr(limit))})"
