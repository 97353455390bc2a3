"""Fusion: what holds for any two lists, and the arithmetic of each method."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from citewell.retrieve.fusion import convex, distribution_based, hybrid, ordered, reciprocal_rank
from citewell.types import ScoredId


def _leg(scores: dict[str, float]) -> list[ScoredId]:
    return ordered(scores)


_ids = st.text("abcdefghij", min_size=1, max_size=2)
_legs = st.dictionaries(_ids, st.floats(-1, 1), max_size=12).map(_leg)
_lexical = st.dictionaries(_ids, st.floats(0.01, 60), max_size=12).map(_leg)
_weights = st.floats(0, 1)


def _fuse_all(one: list[ScoredId], other: list[ScoredId], weight: float) -> list[list[ScoredId]]:
    shares = [weight, 1 - weight]
    return [
        hybrid(one, other, weight, 0.4),
        convex([one, other], shares),
        distribution_based([one, other], shares),
        reciprocal_rank([one, other], shares),
    ]


@given(_legs, _lexical, _weights)
def test_everything_found_is_kept_once_and_nothing_is_added(
    one: list[ScoredId], other: list[ScoredId], weight: float
) -> None:
    found = {item.id for item in one} | {item.id for item in other}
    for fused in _fuse_all(one, other, weight):
        assert sorted(item.id for item in fused) == sorted(found)


@given(_legs, _lexical, _weights)
def test_the_list_is_ordered_and_scores_lie_between_0_and_1(
    one: list[ScoredId], other: list[ScoredId], weight: float
) -> None:
    for fused in _fuse_all(one, other, weight):
        scores = [item.score for item in fused]
        assert scores == sorted(scores, reverse=True)
        assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)


@given(_legs, _lexical, _weights)
def test_the_order_of_the_input_does_not_matter(one: list[ScoredId], other: list[ScoredId], weight: float) -> None:
    assert hybrid(one, other, weight, 0.4) == hybrid(one[::-1], other[::-1], weight, 0.4)
    assert convex([one, other], [weight, 1 - weight]) == convex([one[::-1], other[::-1]], [weight, 1 - weight])


@given(_legs, _lexical, _weights, st.floats(0.1, 10), st.floats(-5, 5))
def test_min_max_does_not_see_the_scale_of_a_leg(
    one: list[ScoredId], other: list[ScoredId], weight: float, factor: float, shift: float
) -> None:
    scores = [item.score for item in one]
    assume(scores and max(scores) - min(scores) > 1e-6)
    scaled = [ScoredId(item.id, item.score * factor + shift) for item in one]
    before = {item.id: item.score for item in convex([one, other], [weight, 1 - weight])}
    after = {item.id: item.score for item in convex([scaled, other], [weight, 1 - weight])}
    assert after == pytest.approx(before, abs=1e-4)


@given(_legs, _lexical)
def test_with_all_weight_on_one_leg_its_order_is_kept(one: list[ScoredId], other: list[ScoredId]) -> None:
    assume(one and other)
    best = max(item.score for item in other)
    ranked = [item.id for item in hybrid(one, other, 0.0) if item.id in {o.id for o in other}]
    scores = {item.id: item.score / best for item in other}
    assert [scores[key] for key in ranked] == sorted(scores.values(), reverse=True)


def test_where_one_leg_found_nothing_the_other_decides_alone() -> None:
    words = _leg({"a": 12.0, "b": 3.0})
    assert hybrid([], words, 0.5) == [ScoredId("a", 1.0), ScoredId("b", 0.25)]
    meaning = _leg({"a": 0.9, "b": 0.5})
    assert hybrid(meaning, [], 0.5) == [ScoredId("a", 1.0), ScoredId("b", 0.0)]
    assert hybrid([], [], 0.5) == []


def test_a_query_that_hardly_discriminates_by_meaning_is_decided_by_words() -> None:
    noise = _leg({"a": 0.302, "b": 0.301, "c": 0.300})
    words = _leg({"b": 10.0, "a": 9.5, "c": 1.0})
    assert convex([noise, words], [0.5, 0.5])[0].id == "a"
    assert hybrid(noise, words, 0.5, typical_spread=0.4)[0].id == "b"


def test_reciprocal_ranks_are_those_of_the_paper() -> None:
    fused = reciprocal_rank([_leg({"a": 3.0, "b": 2.0}), _leg({"b": 9.0, "c": 1.0})])
    assert [item.id for item in fused] == ["b", "a", "c"]
    assert [item.score for item in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


def test_equal_scores_are_ordered_by_id() -> None:
    assert [item.id for item in ordered({"b": 1.0, "a": 1.0, "c": 2.0})] == ["c", "a", "b"]


def test_one_weight_per_leg_is_needed() -> None:
    with pytest.raises(ValueError, match="argument"):
        convex([_leg({"a": 1.0})], [0.5, 0.5])
