"""A reranker's order, taken wholly or in part."""

from citewell.ports import Reranked
from citewell.retrieve.options import RerankerTraits, reranker_traits_of
from citewell.retrieve.reranking import reordered
from citewell.types import Hit, Scores
from tests.retrieve.stand_ins import make_chunk


def _hits(*scores: float) -> list[Hit]:
    return [
        Hit(chunk=make_chunk(f"text {n}"), filename="a", score=score, scores=Scores(fused=score))
        for n, score in enumerate(scores)
    ]


_RANKED = [Reranked(2, 0.9), Reranked(0, 0.5), Reranked(1, 0.1)]


def test_a_reranker_that_is_trusted_wholly_decides() -> None:
    out = reordered(_hits(0.8, 0.7, 0.1), _RANKED, 1.0, None)
    assert [hit.chunk.text for hit in out] == ["text 2", "text 0", "text 1"]
    assert [hit.score for hit in out] == [0.9, 0.5, 0.1]
    assert [hit.scores.rerank for hit in out] == [0.9, 0.5, 0.1]
    assert [hit.scores.fused for hit in out] == [0.1, 0.8, 0.7]


def test_in_part_it_is_weighed_against_the_score_before() -> None:
    out = reordered(_hits(0.8, 0.7, 0.1), _RANKED, 0.3, None)
    assert [hit.chunk.text for hit in out] == ["text 0", "text 1", "text 2"]
    assert all(0.0 <= hit.score <= 1.0 for hit in out)
    assert out[0].scores.rerank == 0.5


def test_hits_below_the_threshold_are_left_out() -> None:
    assert len(reordered(_hits(0.8, 0.7, 0.1), _RANKED, 1.0, 0.5)) == 2
    assert reordered([], [], 0.3, None) == []


def test_the_built_in_reranker_is_trusted_in_part_and_sees_few() -> None:
    assert reranker_traits_of("late-interaction") == RerankerTraits(weight=0.3, candidates=20)
    assert reranker_traits_of("rerank-2.5").weight == 1.0
