"""A name that does not exist is taken for the nearest one, or for none."""

from __future__ import annotations

import pytest

from citewell.text.spelling import nearest, suggestion

KNOWN = ("query", "top_k", "project", "resource_ids", "neighbours", "openai_api_key")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("topk", "top_k"),
        ("topK", "top_k"),
        ("TOP-K", "top_k"),
        ("qurey", "query"),
        ("neighbors", "neighbours"),
        ("resourceIds", "resource_ids"),
        ("api_key_openai", "openai_api_key"),
        ("colour", None),
        ("", None),
        ("___", None),
    ],
)
def test_the_nearest_name(name: str, meant: str | None) -> None:
    assert nearest(name, KNOWN) == meant


def test_where_none_is_near_all_are_listed() -> None:
    assert suggestion("colour", ["b", "a"]) == "There are: `a`, `b`."
    assert suggestion("colour", []) == "There are none."
    assert suggestion("topk", KNOWN) == "Did you mean `top_k`?"
