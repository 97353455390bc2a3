"""A model's arguments become a typed query, or an error that says what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.interface import TurnRequest
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    DatePart,
    Function,
    Order,
    RowCondition,
    TableQuery,
    TextValue,
    parse_query,
)
from citewell.agent.turn.state import TurnState
from citewell.agent.turn.tools import Toolbox
from citewell.errors import InvalidInput
from citewell.ports import ToolCall
from citewell.types import SearchRequest, SearchResult

_names = st.text(min_size=1, max_size=8).filter(str.strip)
_scalars = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.floats(allow_nan=False))
_refs = st.builds(ColumnRef, _names, st.one_of(st.none(), st.sampled_from([*DatePart, *TextValue])))
_parts = st.one_of(st.none(), st.sampled_from(TextValue))


@st.composite
def _conditions(draw: st.DrawFn) -> RowCondition:
    comparison = draw(st.sampled_from(Comparator))
    if comparison in (Comparator.EMPTY, Comparator.NOT_EMPTY):
        return RowCondition(draw(_refs), comparison)
    if comparison in (Comparator.IN, Comparator.NOT_IN):
        return RowCondition(draw(_refs), comparison, tuple(draw(st.lists(_scalars, min_size=1, max_size=3))))
    return RowCondition(draw(_refs), comparison, draw(_scalars))


_aggregates = st.one_of(
    st.just(Aggregate(Function.COUNT)),
    st.builds(Aggregate, st.sampled_from(Function), _names.filter(lambda name: name != "*"), _parts),
)
_queries = st.builds(
    TableQuery,
    source=_names,
    columns=st.lists(_names, max_size=2).map(tuple),
    conditions=st.lists(_conditions(), max_size=2).map(tuple),
    groups=st.lists(_refs, max_size=2).map(tuple),
    aggregates=st.lists(_aggregates, max_size=2).map(tuple),
    order=st.lists(st.builds(Order, _names, st.booleans(), _parts), max_size=2).map(tuple),
    limit=st.integers(1, MAX_ROWS),
)
_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["column", "comparison", "value", "part", "function", "by"]), inner),
    ),
    max_leaves=4,
)
_ARGUMENTS = ("columns", "conditions", "groups", "aggregates", "order", "limit")


@pytest.mark.full
@given(_queries)
def test_the_json_of_a_query_is_read_back_as_the_same_query(query: TableQuery) -> None:
    assert parse_query(json.loads(json.dumps(query.to_json()))) == query


@given(st.fixed_dictionaries({"source": st.just("t")}, optional=dict.fromkeys(_ARGUMENTS, _json)))
def test_any_arguments_are_read_or_refused(arguments: dict[str, Any]) -> None:
    try:
        query = parse_query(arguments)
    except InvalidInput:
        return
    assert 1 <= query.limit <= MAX_ROWS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "`source` must be a text"),
        ({"source": " "}, "`source` must be a text"),
        ({"source": "t", "sql": "DROP TABLE t"}, "no argument sql"),
        ({"source": "t", "columns": "a"}, "`columns` must be a list"),
        ({"source": "t", "columns": [1]}, "`columns` must be a text"),
        ({"source": "t", "conditions": ["a"]}, "`conditions` must be a list of objects"),
        ({"source": "t", "conditions": [{"comparison": "eq", "value": 1}]}, "`column` must be a text"),
        ({"source": "t", "conditions": [{"column": "a", "comparison": "like", "value": 1}]}, "`comparison` must be one of eq"),
        ({"source": "t", "conditions": [{"column": "a", "comparison": "in", "value": []}]}, "must be a list that is not empty"),
        ({"source": "t", "conditions": [{"column": "a", "comparison": "in", "value": "ab"}]}, "must be a list that is not empty"),
        ({"source": "t", "conditions": [{"column": "a", "comparison": "in", "value": [None]}]}, "a text, a number or true/false"),
        ({"source": "t", "conditions": [{"column": "a", "value": {"b": 1}}]}, "a text, a number or true/false"),
        ({"source": "t", "conditions": [{"column": "a", "part": "week", "value": 1}]}, "`part` must be one of year"),
        ({"source": "t", "aggregates": [{"function": "sum"}]}, "`sum` needs a `column`"),
        ({"source": "t", "aggregates": [{"function": "stddev", "column": "a"}]}, "`function` must be one of count"),
        ({"source": "t", "order": [{"descending": True}]}, "`by` must be a text"),
        ({"source": "t", "limit": 0}, "`limit` must be a whole number"),
        ({"source": "t", "limit": True}, "`limit` must be a whole number"),
        ({"source": "t", "limit": 2.5}, "`limit` must be a whole number"),
        ({"source": "t", "limit": "5"}, "`limit` must be a whole number"),
        ({"source": "t", "limit": json.loads("1e999")}, "`limit` must be a whole number"),
        ({"source": "t", "limit": json.loads("NaN")}, "`limit` must be a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_query(arguments)
    assert words in refused.value.message


def test_what_is_left_out_has_its_usual_meaning() -> None:
    data: dict[str, Any] = {
        "source": "t",
        "conditions": [{"column": "a", "value": 1}, {"column": "b", "comparison": "empty", "value": "ignored"}],
        "groups": ["Branch", {"column": "Date", "part": "month"}],
        "aggregates": [{"function": "count", "column": "*"}, {"function": "count", "column": ""}],
        "order": [{"by": "count"}],
        "limit": None,
    }
    query = parse_query(data)
    assert query.conditions == (
        RowCondition(ColumnRef("a"), Comparator.EQ, 1),
        RowCondition(ColumnRef("b"), Comparator.EMPTY),
    )
    assert query.groups == (ColumnRef("Branch"), ColumnRef("Date", DatePart.MONTH))
    assert query.aggregates == (Aggregate(Function.COUNT),) * 2
    assert query.order == (Order("count", descending=False),)
    assert query.limit == 20


def test_no_query_gives_more_rows_than_a_model_can_read() -> None:
    assert parse_query({"source": "t", "limit": 10**9}).limit == MAX_ROWS
    assert parse_query({"source": "t", "limit": 7.0}).limit == 7


def test_aggregates_are_named_as_results_and_order_name_them() -> None:
    assert Aggregate(Function.SUM, "Amount").name == "sum(Amount)"
    assert Aggregate(Function.COUNT).name == "count"


class _NoSearch:
    async def search(self, request: SearchRequest) -> SearchResult:
        raise AssertionError("nothing should be searched for")


@pytest.mark.parametrize("count", ["1e999", "-1e999", "NaN", "2.5", "true", '"5"'])
async def test_a_number_of_passages_that_is_not_whole_is_refused(count: str) -> None:
    call = ToolCall("c1", "search_files", {"query": "fees", "top_k": json.loads(count)})
    turn = TurnState(request=TurnRequest(owner_id="ada", message="fees?"), emit=lambda _: None)
    result = await Toolbox(_NoSearch()).run(turn, call)
    assert result.failed
    assert result.text == "That does not work: `top_k` must be a whole number."
