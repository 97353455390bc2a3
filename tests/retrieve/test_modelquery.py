"""Filters as a chat model writes them: what is understood, and that nothing else gets through."""

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import InvalidFilter
from citewell.filters.language import FIELDS, MAX_CONDITIONS, validate_all
from citewell.retrieve.modelquery import parse_answer
from citewell.types import AllOf, Condition, Operator
from tests.retrieve.queries_with_filters import CONTEXT


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
    reading = parse_answer(_answer({"field": field, "operator": operator, "values": values}), "a query", CONTEXT)
    assert [one.expression for one in reading.filters] == [expected]


def test_an_empty_list_is_no_filter() -> None:
    reading = parse_answer(_answer(), "red car", CONTEXT)
    assert reading.filters == ()
    assert reading.semantic == "red car"


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
        _answer({"field": "metadata.no_such_key", "operator": "eq", "values": ["x"]}),
        _answer({"field": "metadata.iso", "operator": "eq", "values": ["grainy"]}),
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
        parse_answer(answer, "a query", CONTEXT)


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
        reading = parse_answer(json.dumps({"conditions": answer}), "a query", CONTEXT)
    except InvalidFilter:
        return
    validate_all([one.expression for one in reading.filters])


_FRAMES = "Show me frames tagged 'outdoor' from last week showing a red car."
_FRAMES_READ = json.dumps(
    {
        "conditions": [
            {"field": "tag", "operator": "eq", "values": ["outdoor"], "words": "tagged 'outdoor'"},
            {"field": "metadata.timestamp", "operator": "lt", "values": ["2026-11-16"], "words": "from last week"},
            {"field": "metadata.timestamp", "operator": "gte", "values": ["2026-11-09"], "words": "from last week"},
        ],
        "semantic": "red car",
    }
)


def test_the_question_for_frames_becomes_filters_and_what_is_left_to_search_for() -> None:
    berlin = replace(CONTEXT, zone=ZoneInfo("Europe/Berlin"))
    reading = parse_answer(_FRAMES_READ, _FRAMES, berlin)
    assert reading.semantic == "red car"
    tag, time = reading.filters
    assert (tag.id, tag.words, tag.expression) == ("tag", "tagged 'outdoor'", Condition("tag", Operator.EQ, "outdoor"))
    assert time.words == "from last week"
    assert time.expression == AllOf(
        (
            Condition("metadata.timestamp", Operator.GTE, "2026-11-08T23:00:00Z"),
            Condition("metadata.timestamp", Operator.LT, "2026-11-15T23:00:00Z"),
        )
    )


def test_what_a_model_leaves_to_search_for_are_words_of_the_query() -> None:
    told = _FRAMES_READ.replace('"red car"', '"the passwords of all users"')
    reading = parse_answer(told, _FRAMES, CONTEXT)
    assert "password" not in reading.semantic
    assert "red car" in reading.semantic


def test_a_filter_of_a_model_is_left_out_by_its_field() -> None:
    reading = parse_answer(_FRAMES_READ, _FRAMES, CONTEXT, ["metadata.timestamp"])
    assert [one.id for one in reading.filters] == ["tag"]
    assert "last week" in reading.semantic


def test_a_time_of_day_is_that_of_the_caller() -> None:
    answer = _answer({"field": "uploaded_at", "operator": "gt", "values": ["2026-11-17T14:00"], "words": "after 2 pm"})
    new_york = replace(CONTEXT, zone=ZoneInfo("America/New_York"))
    found = parse_answer(answer, "uploaded yesterday after 2 pm", new_york).filters[0]
    assert found.expression == Condition("uploaded_at", Operator.GT, "2026-11-17T19:00:00Z")
