"""Filters by project, as somebody sees them who is kept to some projects."""

from __future__ import annotations

import pytest

from citewell.filters.language import lowered, parse_filters
from citewell.filters.predicates import holds
from citewell.retrieve.project_filters import seen_by
from citewell.types import JsonValue
from citewell.types.accounts import Grant

KEPT = Grant(owner_id="ada", projects={"id-kitchen": "Kitchen", "id-garden": "Garden"})
# Files by the ids and names of the projects that they are in.
KITCHEN: dict[str, JsonValue] = {"project": ["id-kitchen", "kitchen"]}
BOTH: dict[str, JsonValue] = {"project": ["id-kitchen", "kitchen", "id-volta", "volta merger"]}


@pytest.mark.parametrize("file", [KITCHEN, BOTH])
@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"field": "project", "value": "Kitchen"}, True),
        ({"field": "project", "value": "id-kitchen"}, True),
        ({"field": "project", "value": "Garden"}, False),
        ({"field": "project", "operator": "prefix", "value": "kit"}, True),
        ({"field": "project", "operator": "prefix", "value": "vol"}, False),
        ({"field": "project", "operator": "contains", "value": "merger"}, False),
        ({"field": "project", "operator": "ne", "value": "Kitchen"}, False),
        ({"field": "project", "operator": "ne", "value": "Volta merger"}, True),
        ({"field": "project", "operator": "in", "value": ["Garden", "id-volta"]}, False),
        ({"not": {"field": "project", "operator": "prefix", "value": "vol"}}, True),
    ],
)
def test_only_projects_that_a_caller_is_kept_to_are_asked(
    file: dict[str, JsonValue], condition: JsonValue, found: bool
) -> None:
    (seen,) = seen_by(KEPT, parse_filters([condition]))
    assert holds(seen, file) == found


def test_a_name_is_asked_for_however_its_letters_are_composed() -> None:
    grant = Grant(owner_id="ada", projects={"id-cafe": "Caf\u00e9"})
    file: dict[str, JsonValue] = {"project": ["id-cafe", "caf\u00e9"]}
    for operator, value in (
        ("eq", "Cafe\u0301"),
        ("ne", "Tea"),
        ("prefix", "cafe\u0301"),
        ("in", ["Tea", "Cafe\u0301"]),
    ):
        filters = parse_filters([{"field": "project", "operator": operator, "value": value}])
        assert holds(lowered(filters[0]), file)
        assert holds(seen_by(grant, filters)[0], file)
    assert grant.narrowed(["Cafe\u0301 "]) == ("id-cafe",)


def test_other_conditions_and_callers_who_are_kept_to_nothing_are_left_alone() -> None:
    filters = parse_filters([{"field": "project", "value": "Volta merger"}, {"field": "tag", "value": "x"}])
    assert seen_by(Grant(owner_id="ada"), filters) == filters
    assert seen_by(KEPT, filters)[1] == filters[1]
