"""Fusion: what holds for any two lists, and the arithmetic of each method."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from citewell.retrieve.fusion import (
    convex,
    distribution_based,
    hybrid,
    judged_by_words,
    led_by,
    ordered,
    reciprocal_rank,
)
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
    assert [scores[key] for key in ranked] == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-8)


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


def _rounded(fused: list[ScoredId]) -> list[tuple[str, float]]:
    return [(item.id, round(item.score, 6)) for item in fused]


def test_a_hybrid_score_is_the_spread_of_meanings_and_the_share_of_the_best_words() -> None:
    meaning, words = _leg({"a": 0.9, "b": 0.7, "c": 0.5}), _leg({"b": 8.0, "d": 2.0})
    assert _rounded(hybrid(meaning, words, 0.6)) == [("b", 0.7), ("a", 0.6), ("d", 0.1), ("c", 0.0)]
    # A spread of 0.4 that is half of what is usual weighs half.
    assert _rounded(hybrid(meaning, words, 0.6, 0.8)) == [("b", 0.55), ("a", 0.3), ("d", 0.1), ("c", 0.0)]


def test_words_of_no_worth_leave_the_order_to_meaning() -> None:
    assert _rounded(hybrid(_leg({"a": 0.9, "b": 0.5}), _leg({"a": 0.0, "c": 0.0}), 0.5)) == [("a", 0.5), ("b", 0.0)]
    assert _rounded(hybrid([], _leg({"a": 0.5, "b": 0.25}), 0.9)) == [("a", 1.0), ("b", 0.5)]


def test_a_leg_of_equal_scores_gives_all_of_them_its_whole_weight() -> None:
    equal, other = _leg({"a": 0.4, "b": 0.4}), _leg({"b": 3.0, "c": 1.0})
    assert _rounded(convex([equal, other], [0.25, 0.75])) == [("b", 1.0), ("a", 0.25), ("c", 0.0)]
    assert _rounded(hybrid(equal, other, 0.25)) == [("b", 1.0), ("a", 0.25), ("c", 0.25)]


def test_distribution_based_scores_count_deviations_from_the_mean() -> None:
    leg = _leg({"a": 5.0, "b": 3.0, "c": 1.0})  # mean 3, three standard deviations 4.898979
    high, low = 0.5 + 2 / (2 * 4.898979), 0.5 - 2 / (2 * 4.898979)
    assert [(i.id, i.score) for i in distribution_based([leg], [1.0])] == [
        ("a", pytest.approx(high)),
        ("b", pytest.approx(0.5)),
        ("c", pytest.approx(low)),
    ]
    assert _rounded(distribution_based([leg, _leg({"c": 7.0, "d": 7.0})], [0.0, 0.5]))[:2] == [("c", 0.5), ("d", 0.5)]


def test_distribution_based_scores_end_at_three_deviations() -> None:
    """One far above a hundred equal ones, one as far below."""
    many = {f"m{n:03}": 0.0 for n in range(100)}
    fused = distribution_based([_leg({**many, "high": 50.0, "low": -50.0})], [1.0])
    assert (fused[0], fused[-1]) == (ScoredId("high", 1.0), ScoredId("low", 0.0))
    assert {round(item.score, 6) for item in fused[1:-1]} == {0.5}


def test_reciprocal_ranks_can_be_weighted_and_flattened() -> None:
    legs = [_leg({"a": 3.0, "b": 2.0}), _leg({"b": 9.0})]
    assert [(i.id, i.score) for i in reciprocal_rank(legs, [0.25, 4.0], k=1)] == [
        ("b", pytest.approx(0.25 / 3 + 4.0 / 2)),
        ("a", pytest.approx(0.25 / 2)),
    ]
    with pytest.raises(ValueError, match="argument"):
        reciprocal_rank(legs, [1.0])
    with pytest.raises(ValueError, match="argument"):
        distribution_based(legs, [1.0])


def test_nothing_found_is_nothing_whatever_the_method() -> None:
    for fused in _fuse_all([], [], 0.5):
        assert fused == []


def test_what_only_words_can_find_is_not_put_behind_what_has_a_vector() -> None:
    dense = [ScoredId("seen", 0.9), ScoredId("other", 0.1)]
    lexical = [ScoredId("new", 10.0), ScoredId("seen", 8.0)]
    fused = hybrid(dense, lexical, 0.6)
    assert [one.id for one in fused] == ["seen", "new", "other"]
    assert dict(judged_by_words(fused, {"new"}, 0.4))["new"] == pytest.approx(1.0)
    assert judged_by_words(fused, {"new"}, 0.0) == fused


def test_what_is_named_by_a_code_comes_first_and_the_others_keep_their_order() -> None:
    fused = [ScoredId("a", 0.9), ScoredId("b", 0.8), ScoredId("c", 0.7), ScoredId("d", 0.1)]
    assert led_by(fused, {"c", "d", "unknown"}) == [("c", 0.9), ("d", 0.9), ("a", 0.9), ("b", 0.8)]
    assert led_by(fused, set()) == fused
    assert led_by([], {"a"}) == []


@pytest.mark.parametrize("best", [24.88265, 45.49962, 7.3, 49.0, 99.2618])
def test_the_best_by_meaning_and_the_best_by_words_have_the_same_score_however_the_store_rounds(best: float) -> None:
    dense, lexical = _leg({"b": 0.566688, "c": 0.1}), _leg({"a": best, "d": 1.0})

    fused = hybrid(dense, lexical, 0.5)

    assert [item.id for item in fused[:2]] == ["a", "b"]
    assert fused[0].score == fused[1].score
