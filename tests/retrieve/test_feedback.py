"""Dense feedback: what was found pulls the query towards it, the more so the clearer the winner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.retrieve.feedback import pulls_of
from citewell.types import ScoredId


def test_a_single_chunk_pulls_with_the_whole_weight() -> None:
    assert pulls_of([ScoredId("a", 0.9)], 0.5) == (("a", 0.5),)


def test_a_clear_winner_pulls_alone_and_equals_pull_alike() -> None:
    (_, clear), (_, behind) = pulls_of([ScoredId("a", 1.0), ScoredId("b", 0.2)], 0.5)
    assert clear > 100 * behind
    (_, one), (_, other) = pulls_of([ScoredId("a", 0.5), ScoredId("b", 0.5)], 0.5)
    assert one == pytest.approx(other) == pytest.approx(0.25)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(0, 2))
def test_the_shares_make_up_the_weight_and_never_grow(scores: list[float], weight: float) -> None:
    best = [ScoredId(str(n), score) for n, score in enumerate(sorted(scores, reverse=True))]
    pulls = pulls_of(best, weight)
    assert [key for key, _ in pulls] == [found.id for found in best]
    shares = [share for _, share in pulls]
    assert sum(shares) == pytest.approx(weight)
    assert shares == sorted(shares, reverse=True)
