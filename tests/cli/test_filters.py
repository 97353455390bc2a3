"""`--filter`: short words mean what the same filter in JSON means."""

from __future__ import annotations

import pytest

from citewell import InvalidFilter
from citewell.cli.filters import typed_filters


@pytest.mark.parametrize(
    ("typed", "field", "operator", "value"),
    [
        ("page>=3", "page", "gte", 3),
        ("page < 10", "page", "lt", 10),
        ("tag=outdoor", "tag", "eq", "outdoor"),
        ("tag!=outdoor", "tag", "ne", "outdoor"),
        ("filename=2024", "filename", "eq", "2024"),
        ('filename="2024"', "filename", "eq", "2024"),
        ("filename^=Annual = best", "filename", "prefix", "Annual = best"),
        ("filename~plan", "filename", "contains", "plan"),
        ('extension=["pdf", "docx"]', "extension", "in", ["pdf", "docx"]),
        ('extension!=["pdf", "docx"]', "extension", "not_in", ["pdf", "docx"]),
        ("metadata.iso=400", "metadata.iso", "eq", 400),
        ('metadata.code="400"', "metadata.code", "eq", "400"),
        ("metadata.indoor=false", "metadata.indoor", "eq", False),
        ("metadata.taken>2025-06-01", "metadata.taken", "gt", "2025-06-01"),
        ("metadata.camera", "metadata.camera", "exists", True),
        ('{"field": "page", "value": 3}', "page", "eq", 3),
    ],
)
def test_words_are_read_as_one_condition(typed: str, field: str, operator: str, value: object) -> None:
    assert typed_filters([typed]) == [{"field": field, "operator": operator, "value": value}]


def test_several_filters_and_lists_are_joined() -> None:
    group = '{"any": [{"field": "page", "value": 3}, {"not": {"field": "tag", "value": "x"}}]}'
    assert [*typed_filters([group])[0]] == ["any"]  # type: ignore[misc]
    assert typed_filters(["page=3", '[{"field": "tag", "value": "x"}]']) == typed_filters(["page=3"]) + typed_filters(
        ["tag=x"]
    )
    assert typed_filters([]) == []


@pytest.mark.parametrize(
    "typed", ["", "colour", "colour=red", "page=three", "page~3", "tag=", "tag>x", "{", "[1]", "=3"]
)
def test_what_is_not_allowed_is_an_invalid_filter(typed: str) -> None:
    with pytest.raises(InvalidFilter):
        typed_filters([typed])
