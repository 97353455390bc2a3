"""Compiles typed filters to Qdrant Edge conditions."""

from __future__ import annotations

from typing import TypeAlias

import qdrant_edge as qe

from citewell.adapters.index.qdrant_conditions import Bound, compiled
from citewell.types import Filter

EdgeCondition: TypeAlias = "qe.FieldCondition | qe.Filter"


class EdgeConditions:
    """See `Conditions`."""

    def all_of(self, parts: list[EdgeCondition]) -> EdgeCondition:
        """See `Conditions.all_of`."""
        return qe.Filter(must=list(parts))

    def any_of(self, parts: list[EdgeCondition]) -> EdgeCondition:
        """See `Conditions.any_of`; a filter with an empty `should` would admit everything."""
        return qe.Filter(min_should=qe.MinShould(list(parts), 1))

    def none_of(self, part: EdgeCondition) -> EdgeCondition:
        """See `Conditions.none_of`."""
        return qe.Filter(must_not=[part])

    def one_of(self, field: str, values: list[str] | list[int]) -> EdgeCondition:
        """See `Conditions.one_of`."""
        match = qe.MatchValue(values[0]) if len(values) == 1 else qe.MatchAny(values)
        return qe.FieldCondition(key=field, match=match)

    def substring(self, field: str, text: str) -> EdgeCondition:
        """See `Conditions.substring`."""
        return qe.FieldCondition(key=field, match=qe.MatchSubstring(text))

    def prefix(self, field: str, text: str) -> EdgeCondition:
        """See `Conditions.prefix`."""
        return qe.FieldCondition(key=field, match=qe.MatchPrefix(text))

    def within(self, field: str, bounds: dict[Bound, float]) -> EdgeCondition:
        """See `Conditions.within`."""
        limits = qe.RangeFloat(gt=bounds.get("gt"), gte=bounds.get("gte"), lt=bounds.get("lt"), lte=bounds.get("lte"))
        return qe.FieldCondition(key=field, range=limits)

    def empty(self, field: str) -> EdgeCondition:
        """See `Conditions.empty`."""
        return qe.Filter(must=[qe.IsEmptyCondition(field)])


def compile_filter(filter: Filter) -> qe.Filter:
    """The conditions of `filter`, all of which must hold. Raises `InvalidFilter` for an unknown field."""
    return _filter(compiled(filter, EdgeConditions()))


def compile_rest(filter: Filter) -> qe.Filter | None:
    """As `compile_filter`, but without the owner, if all points are theirs; None if no other condition remains."""
    condition = _filter(compiled(filter, EdgeConditions(), is_owned=True))
    return condition if condition.must else None


def _filter(condition: EdgeCondition) -> qe.Filter:
    assert isinstance(condition, qe.Filter)
    return condition
