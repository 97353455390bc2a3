"""Filters as a chat model writes them: what is understood, and that nothing else gets through."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import InvalidFilter
from citewell.filters import FIELDS, MAX_CONDITIONS, validate
from citewell.retrieve.modelquery import parse_conditions
from citewell.types import Condition, Operator


def _answer(*conditions: object) -> str:
    return json.dumps({"conditions": conditions})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (("extension", "in", ["pdf", "docx"]), Condition("extension", Operator.IN, ("pdf", "docx"))),
        (("filename", "eq", ["A.pdf", "B.pdf"]), Condition("filename", Operator.IN, ("A.pdf", "B.pdf"))),
        (("page", "gte", ["3"]), Condition("page", Operator.GTE, 3)),
        (("date", "lte", [20251231]), Condition("date", Operator.LTE, 20251231)),
        (("tag", "eq", ["budget"]), Condition("tag", Operator.EQ, "budget")),
    ],
)
def test_conditions_are_typed(written: tuple[str, str, list[object]], expected: Condition) -> None:
    field, operator, values = written
    assert parse_conditions(_answer({"field": field, "operator": operator, "values": values})) == (expected,)


def test_an_empty_list_is_no_filter() -> None:
    assert parse_conditions(_answer()) == ()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "not JSON",
        "[]",
        "{}",
        '{"conditions": "page = 3"}',
        _answer("page = 3"),
        _answer({"field": "owner_id", "operator": "eq", "values": ["bob"]}),
        _answer({"field": "filename' OR 1=1 --", "operator": "eq", "values": ["x"]}),
        _answer({"field": "page", "operator": "regex", "values": [3]}),
        _answer({"field": "page", "operator": ["eq"], "values": [3]}),
        _answer({"field": "page", "operator": "eq", "values": []}),
        _answer({"field": "page", "operator": "gte", "values": [1, 2]}),
        _answer({"field": "page", "operator": "eq", "values": ["three"]}),
        _answer({"field": "page", "operator": "eq", "values": [True]}),
        _answer({"field": "page", "operator": "eq", "values": [{"$gt": 0}]}),
        _answer({"field": "filename", "operator": "gte", "values": ["a"]}),
        _answer({"field": "filename", "operator": "eq", "values": ["x" * 4_100]}),
        _answer(*[{"field": "page", "operator": "eq", "values": [1]}] * (MAX_CONDITIONS + 1)),
    ],
)
def test_anything_else_is_an_error(answer: str) -> None:
    with pytest.raises(InvalidFilter):
        parse_conditions(answer)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=9)
    | st.sampled_from(sorted(FIELDS)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["field", "operator", "values", "conditions"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_json)
def test_whatever_gets_through_is_allowed(answer: object) -> None:
    try:
        conditions = parse_conditions(json.dumps({"conditions": answer}))
    except InvalidFilter:
        return
    for condition in conditions:
        validate(condition)
