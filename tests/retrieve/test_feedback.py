"""Dense feedback: the query moves towards what was found, the more so the clearer the winner."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ports import FloatMatrix
from citewell.retrieve.feedback import pulled_query
from citewell.types import ScoredId


def _unit(*values: float) -> FloatMatrix:
    vector = np.asarray(values, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


_QUERY = _unit(1, 0, 0)
_VECTORS = {"a": _unit(0, 1, 0), "b": _unit(0, 0, 1)}


def test_the_query_moves_towards_the_best_chunk() -> None:
    moved = pulled_query(_QUERY, [ScoredId("a", 0.9)], _VECTORS, 0.5)
    assert moved == pytest.approx(_unit(1, 0.5, 0), abs=1e-6)


def test_a_clear_winner_pulls_alone_and_equals_pull_alike() -> None:
    clear = pulled_query(_QUERY, [ScoredId("a", 1.0), ScoredId("b", 0.2)], _VECTORS, 0.5)
    assert clear is not None
    assert clear[1] > 100 * clear[2]
    even = pulled_query(_QUERY, [ScoredId("a", 0.5), ScoredId("b", 0.5)], _VECTORS, 0.5)
    assert even is not None
    assert even[1] == pytest.approx(even[2])


def test_without_vectors_there_is_no_feedback() -> None:
    assert pulled_query(_QUERY, [ScoredId("unknown", 1.0)], _VECTORS, 0.5) is None
    assert pulled_query(_QUERY, [], _VECTORS, 0.5) is None


def test_opposite_vectors_do_not_divide_by_nothing() -> None:
    assert pulled_query(_QUERY, [ScoredId("c", 1.0)], {"c": -_QUERY}, 1.0) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(0, 2))
def test_the_result_is_a_unit_vector_no_further_from_what_pulls(scores: list[float], weight: float) -> None:
    random = np.random.default_rng(len(scores))
    query = _unit(*random.normal(size=8))
    vectors = {str(n): _unit(*random.normal(size=8)) for n in range(len(scores))}
    best = [ScoredId(str(n), score) for n, score in enumerate(sorted(scores, reverse=True))]
    moved = pulled_query(query, best, vectors, weight)
    if moved is None:
        return
    assert float(np.linalg.norm(moved)) == pytest.approx(1.0, abs=1e-5)
    assert float(moved @ vectors["0"]) >= float(query @ vectors["0"]) - 1e-5 or len(scores) > 1
