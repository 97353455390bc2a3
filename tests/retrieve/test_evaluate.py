"""The measures: against values worked out by hand, and what holds for any ranking."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import InvalidInput
from citewell.retrieve.evaluate import (
    CONFIGURATIONS,
    Judgements,
    Ranker,
    difference,
    estimate,
    evaluate,
    normalised_gain,
    read_corpus,
    read_judgements,
    table,
)
from citewell.retrieve.options import RetrievalOptions


async def _always(found: Sequence[str]) -> Ranker:
    async def rank(query: str) -> Sequence[str]:
        return found

    return rank


def test_ndcg_is_that_of_the_formula() -> None:
    grades = {"a": 2, "b": 1}
    best = 3 + 1 / math.log2(3)
    assert normalised_gain(["a", "b"], grades) == pytest.approx(1.0)
    assert normalised_gain(["b", "x", "a"], grades) == pytest.approx((1 + 3 / 2) / best)
    assert normalised_gain(["x"], grades) == 0.0
    assert normalised_gain(["a"], {}) == 0.0
    assert normalised_gain(["x"] * 10 + ["a"], grades) == 0.0


async def test_recall_and_reciprocal_rank() -> None:
    judged = Judgements({"q1": "one", "q2": "two", "q3": "nothing relevant"}, {"q1": {"a": 1, "b": 1}, "q2": {"z": 1}})
    quality = await evaluate("test", await _always(["x", "a", "x", "y"]), judged)
    assert quality.queries == 2
    assert quality.recall.mean == pytest.approx((1 / 2 + 0) / 2)
    assert quality.mrr.mean == pytest.approx((1 / 2 + 0) / 2)
    assert set(quality.ndcg_of) == {"q1", "q2"}


async def test_without_a_relevant_document_there_is_nothing_to_measure() -> None:
    with pytest.raises(InvalidInput):
        await evaluate("test", await _always([]), Judgements({"q": "x"}, {"q": {"a": 0}}))


async def test_a_paired_difference_of_a_ranking_with_itself_is_nothing() -> None:
    judged = Judgements({"q": "x", "r": "y"}, {"q": {"a": 1}, "r": {"b": 1}})
    good = await evaluate("good", await _always(["a", "b"]), judged)
    poor = await evaluate("poor", await _always(["x", "a", "b"]), judged)
    assert difference(good, good).mean == 0.0
    assert difference(good, poor).low > 0.0


def test_the_interval_holds_the_mean_and_narrows_with_more_queries() -> None:
    few, many = estimate([0.0, 1.0] * 5), estimate([0.0, 1.0] * 500)
    assert few.low <= few.mean <= few.high
    assert many.high - many.low < few.high - few.low
    assert estimate([0.5]) == estimate([0.5])


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1),
)
def test_ndcg_lies_between_0_and_1_and_is_best_in_the_order_of_the_grades(
    found: list[str], grades: dict[str, int]
) -> None:
    best = sorted(grades, key=lambda key: -grades[key])
    assert 0.0 <= normalised_gain(found, grades) <= normalised_gain(best, grades) + 1e-12 <= 1.0 + 1e-9


async def test_results_read_as_a_table_and_as_json() -> None:
    judged = Judgements({"q": "x"}, {"q": {"a": 1}})
    quality = await evaluate("dense", await _always(["a"]), judged)
    header, row = table([quality])
    assert header[:2] == ("Configuration", "nDCG@10")
    assert row[0] == "dense"
    assert row[1].startswith("1.0000 [")
    assert quality.to_json()["ndcg@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0}


def test_each_leg_and_each_fusion_is_measured_alone() -> None:
    weights = {one.options.dense_weight for one in CONFIGURATIONS.values()}
    assert {0.0, 0.5, 1.0} <= weights
    assert len({one.options.fusion for one in CONFIGURATIONS.values()}) == 4
    assert CONFIGURATIONS["default"].options == RetrievalOptions()
    assert CONFIGURATIONS["default + reranker"].rerank


def test_sets_are_read_from_files(tmp_path: Path) -> None:
    queries, qrels, corpus = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv", tmp_path / "corpus.jsonl"
    queries.write_text('{"_id": "q1", "text": "limit?"}\n\n', encoding="utf-8")
    qrels.write_text('query-id\tcorpus-id\tscore\nq1\td"1\t1\nq1\td2\t0\n', encoding="utf-8")
    documents = '{"_id": "d1", "text": "5,000", "title": null}\n{"_id": "d2", "text": " ", "title": "A title"}\n'
    corpus.write_text(documents, encoding="utf-8")
    judged = read_judgements(queries, qrels)
    assert judged == Judgements({"q1": "limit?"}, {"q1": {'d"1': 1, "d2": 0}})
    assert read_corpus(corpus) == [{"id": "d1", "title": "", "text": "5,000"}]


@pytest.mark.parametrize("line", ["not json", "[]", '{"_id": "q"}'])
def test_a_line_that_is_not_of_the_form_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "q.jsonl").write_text(f'{{"_id": "q1", "text": "x"}}\n{line}\n', encoding="utf-8")
    (tmp_path / "r.tsv").write_text("head\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 2"):
        read_judgements(tmp_path / "q.jsonl", tmp_path / "r.tsv")


def test_a_grade_that_is_no_number_is_named(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"_id": "q1", "text": "x"}\n', encoding="utf-8")
    (tmp_path / "r.tsv").write_text("head\nq1\td1\tgood\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 2"):
        read_judgements(tmp_path / "q.jsonl", tmp_path / "r.tsv")
