"""Filters: only what is on the allow-list reaches a store; everything else is an error."""

import math
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.index.qdrant_edge_filters import compile_filter
from citewell.errors import InvalidFilter
from citewell.filters.language import FIELDS, MAX_CONDITIONS, build_filter, lowered, validate
from citewell.filters.predicates import admits
from citewell.ports.points import FieldKind, field_kind
from citewell.types import ChunkType, Condition, Filter, Operator, Point, SearchRequest, VectorQuery, conditions_in
from tests.depth import examples

_KEYWORDS = sorted(field for field, kind in FIELDS.items() if kind is FieldKind.KEYWORD)
_INTEGERS = sorted(field for field, kind in FIELDS.items() if kind is FieldKind.INTEGER)
_words = st.sampled_from(["a.pdf", "B.PDF", "sheet 1", "ü", '"]}', "' OR 1=1"])
_numbers = st.integers(-2, 6)
_conditions = st.one_of(
    st.builds(Condition, st.sampled_from(_KEYWORDS), st.just(Operator.EQ), _words),
    st.builds(Condition, st.sampled_from(_KEYWORDS), st.just(Operator.IN), st.lists(_words, min_size=1).map(tuple)),
    st.builds(
        Condition, st.sampled_from(_INTEGERS), st.sampled_from([Operator.EQ, Operator.GTE, Operator.LTE]), _numbers
    ),
    st.builds(Condition, st.sampled_from(_INTEGERS), st.just(Operator.IN), st.lists(_numbers, min_size=1).map(tuple)),
)


@pytest.mark.parametrize(
    "field",
    [
        "owner_id",
        "resource_id",
        "file_type",
        "metadata",
        "metadata.",
        "owner_id'; --",
        "",
        "__class__",
        "page.x",
        "Page",
    ],
)
def test_a_field_that_is_not_on_the_list_is_an_error(field: str) -> None:
    with pytest.raises(InvalidFilter):
        validate(Condition(field, Operator.EQ, "ann"))


@given(st.text())
def test_no_other_field_name_is_ever_accepted(field: str) -> None:
    if field not in FIELDS and not field.startswith("metadata."):
        with pytest.raises(InvalidFilter):
            validate(Condition(field, Operator.EQ, 1))


NUMBER = "The field 'page' takes a number."
WHOLE = "The field 'page' takes a whole number."
TEXT = "The field 'filename' takes text of 1 to 4096 characters."
LIST = "`in` and `not_in` take a list of values; every other operator takes a single value."


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (Condition("page", Operator.EQ, "3"), NUMBER),
        (Condition("page", Operator.EQ, True), NUMBER),
        (Condition("page", Operator.EQ, 1.5), WHOLE),
        (Condition("page", Operator.GTE, math.nan), NUMBER),
        (Condition("page", Operator.GTE, math.inf), NUMBER),
        (Condition("page", Operator.LTE, 2**60), WHOLE),
        (Condition("page", Operator.LTE, 2**53 + 1), WHOLE),
        (Condition("page", Operator.GTE, -(2**53) - 1), WHOLE),
        (Condition("page", Operator.EQ, (1, 2)), LIST),
        (Condition("page", Operator.IN, 1), LIST),
        (Condition("page", Operator.IN, ()), "`in` takes 1 to 256 values."),
        (Condition("page", Operator.IN, tuple(range(257))), "`in` takes 1 to 256 values."),
        (Condition("filename", Operator.GTE, "a"), "The field 'filename' does not support the operator 'gte'."),
        (Condition("filename", Operator.EQ, 3), TEXT),
        (Condition("filename", Operator.EQ, ""), TEXT),
        (Condition("filename", Operator.EQ, " "), TEXT),
        (Condition("filename", Operator.EQ, "x" * 4_097), TEXT),
        (Condition("filename", Operator.EQ, "a\x00b"), TEXT),
        (Condition("filename", Operator.IN, ("a", "")), TEXT),
    ],
)
def test_a_value_or_operator_of_the_wrong_kind_is_an_error(condition: Condition, says: str) -> None:
    with pytest.raises(InvalidFilter) as caught:
        validate(condition)
    assert caught.value.message == says


@pytest.mark.parametrize(
    "condition",
    [
        Condition("page", Operator.IN, tuple(range(256))),
        Condition("page", Operator.IN, (1,)),
        Condition("page", Operator.LTE, 2**53),
        Condition("page", Operator.GTE, -(2**53)),
        Condition("page", Operator.EQ, 3.0),
        Condition("filename", Operator.EQ, "x" * 4_096),
        Condition("filename", Operator.IN, ("X",)),
    ],
)
def test_what_lies_just_within_the_limits_is_allowed(condition: Condition) -> None:
    validate(condition)


def test_an_unknown_field_is_named_in_part_beside_those_that_are_allowed() -> None:
    with pytest.raises(InvalidFilter) as caught:
        validate(Condition("f" * 100, Operator.EQ, "a"))
    assert caught.value.message == f"A search cannot be filtered by '{'f' * 64}'."
    assert caught.value.details == {"allowed": [*sorted(FIELDS), "metadata.<key>"]}


def test_too_many_conditions_are_an_error() -> None:
    conditions = (Condition("page", Operator.GTE, 1),) * MAX_CONDITIONS
    request = SearchRequest(owner_id="ann", query="q", conditions=conditions)
    assert build_filter(request, Filter(owner_id="ann")).conditions == conditions
    with pytest.raises(InvalidFilter) as caught:
        build_filter(request, Filter(owner_id="ann"), conditions[:1])
    assert caught.value.message == "At most 64 conditions can be combined."


def test_the_owner_of_the_request_is_always_in_the_filter() -> None:
    request = SearchRequest(owner_id="ann", query="q", types=(ChunkType.ROW,))
    page = Condition("page", Operator.EQ, 3)
    within = Filter(owner_id="ann", resource_ids=("r1",), corpus=("r1", "r2"))
    narrowed = build_filter(request, within, [page])
    assert narrowed == replace(within, types=(ChunkType.ROW,), conditions=(page,))


@given(_conditions)
def test_what_is_allowed_compiles_for_the_store(condition: Condition) -> None:
    validate(condition)
    compiled = compile_filter(Filter(owner_id="ann", conditions=(lowered(condition),)))
    assert len(compiled.must or []) == 2


def test_every_field_of_the_list_stands_in_the_payload() -> None:
    for field, kind in FIELDS.items():
        value = 3 if kind is FieldKind.INTEGER else "2025-01-31"
        (lowest, *_) = conditions_in([lowered(Condition(field, Operator.EQ, value))])
        assert field_kind(lowest.field) is kind


@pytest.fixture(scope="module")
def payloads() -> list[dict[str, str | int | list[int]]]:
    names, sheets = ["a.pdf", "b.pdf", '"]}'], ["sheet 1", "ü"]
    return [
        {
            "owner_id": "bob" if n % 5 == 0 else "ann",
            "resource_id": f"r{n % 3}",
            "type": "row" if n % 2 else "text",
            "filename": names[n % 3],
            "sheet": sheets[n % 2],
            "page": [n % 5, n % 5 + 1],
            "row": n % 6,
        }
        for n in range(60)
    ]


async def test_the_store_admits_what_the_reference_admits(
    tmp_path: Path, payloads: list[dict[str, str | int | list[int]]]
) -> None:
    index = await QdrantEdgeIndex.open(tmp_path, 2)
    ids = [str(uuid.UUID(int=n)) for n in range(len(payloads))]
    await index.upsert(
        [
            Point(id=key, dense=(1.0, 0.0), sparse=None, payload=payload)
            for key, payload in zip(ids, payloads, strict=True)
        ]
    )
    scopes: list[Filter] = []

    @settings(max_examples=examples(150), deadline=None)
    @given(
        st.lists(_conditions, max_size=3).map(tuple),
        st.sampled_from([None, (), ("r1",), ("r0", "r2")]),
        st.sampled_from([None, (ChunkType.ROW,)]),
    )
    def collect(
        conditions: tuple[Condition, ...], resources: tuple[str, ...] | None, types: tuple[ChunkType, ...] | None
    ) -> None:
        stored = tuple(lowered(condition) for condition in conditions)
        scopes.append(Filter(owner_id="ann", conditions=stored, resource_ids=resources, types=types))

    collect()
    for scope in scopes:
        found = await index.search(VectorQuery(dense=(1.0, 0.0), filter=scope, limit=100))
        expected = [key for key, payload in zip(ids, payloads, strict=True) if admits(scope, payload)]
        assert sorted(item.id for item in found) == sorted(expected), scope
    await index.close()
