"""Compiles typed filters to Qdrant server conditions on Citewell's part of the payload."""

from __future__ import annotations

from typing import TypeAlias

from qdrant_client import models

from citewell.adapters.index.qdrant_conditions import Bound, compiled
from citewell.types import Filter

ServerCondition: TypeAlias = "models.FieldCondition | models.IsEmptyCondition | models.Filter"
OURS = "citewell"
"""The payload field that holds everything filters use; other payload fields are for other programs."""


def path(field: str) -> str:
    """The path of a filter's field in a point's payload."""
    return f"{OURS}.{field}"


class ServerConditions:
    """See `Conditions`."""

    def all_of(self, parts: list[ServerCondition]) -> ServerCondition:
        """See `Conditions.all_of`."""
        return models.Filter(must=list(parts))

    def any_of(self, parts: list[ServerCondition]) -> ServerCondition:
        """See `Conditions.any_of`; a filter with an empty `should` would admit everything."""
        return models.Filter(min_should=models.MinShould(conditions=list(parts), min_count=1))

    def none_of(self, part: ServerCondition) -> ServerCondition:
        """See `Conditions.none_of`."""
        return models.Filter(must_not=[part])

    def one_of(self, field: str, values: list[str] | list[int]) -> ServerCondition:
        """See `Conditions.one_of`."""
        match = models.MatchValue(value=values[0]) if len(values) == 1 else models.MatchAny(any=values)
        return models.FieldCondition(key=path(field), match=match)

    def substring(self, field: str, text: str) -> ServerCondition:
        """See `Conditions.substring`."""
        return models.FieldCondition(key=path(field), match=models.MatchSubstring(substring=text))

    def prefix(self, field: str, text: str) -> ServerCondition:
        """See `Conditions.prefix`."""
        return models.FieldCondition(key=path(field), match=models.MatchPrefix(prefix=text))

    def within(self, field: str, bounds: dict[Bound, float]) -> ServerCondition:
        """See `Conditions.within`."""
        limits = models.Range(gt=bounds.get("gt"), gte=bounds.get("gte"), lt=bounds.get("lt"), lte=bounds.get("lte"))
        return models.FieldCondition(key=path(field), range=limits)

    def empty(self, field: str) -> ServerCondition:
        """See `Conditions.empty`."""
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=path(field)))


def compile_filter(filter: Filter) -> models.Filter:
    """The conditions of `filter`, all of which must hold. Raises `InvalidFilter` for an unknown field."""
    condition = compiled(filter, ServerConditions())
    assert isinstance(condition, models.Filter)
    return condition
