"""Limits the project filters of callers with access to some projects: they match only those projects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from citewell.filters.language import lowered, mapped
from citewell.filters.predicates import holds
from citewell.ports.points import keyword
from citewell.types import Condition, Expression, Operator
from citewell.types.accounts import Grant

_FIELD = "project"
_NO_PROJECT = "00000000-0000-0000-0000-000000000000"


def seen_by(grant: Grant, filters: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The filters, with conditions on projects replaced by the ids of matching projects in the grant.

    Otherwise a caller could guess the names of other projects that contain a visible file, prefix by prefix.
    """
    if grant.projects is None:
        return filters
    return tuple(mapped(one, partial(_among, grant.projects)) for one in filters)


def _among(projects: Mapping[str, str], condition: Condition) -> Expression:
    return mapped(lowered(condition), partial(_as_ids, projects)) if condition.field == _FIELD else condition


def _as_ids(projects: Mapping[str, str], condition: Condition) -> Condition:
    found = [known for known, name in projects.items() if holds(condition, {_FIELD: [keyword(known), keyword(name)]})]
    return Condition(_FIELD, Operator.IN, tuple(found) or (_NO_PROJECT,))
