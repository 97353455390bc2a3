"""`citewell eval retrieval`, as typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.full, pytest.mark.slow(12)]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four documents and three judged queries."""
    texts = {
        "owl": "Owls hunt at night.",
        "cod": "Cod swim in cold seas.",
        "oak": "Oaks lose leaves.",
        "key": "Keys open doors.",
    }
    corpus, queries, qrels = tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    corpus.write_text("\n".join(json.dumps({"_id": k, "title": "", "text": v}) for k, v in texts.items()))
    asked = {"1": "owls", "2": "fish of the north", "3": "which trees shed foliage"}
    queries.write_text("\n".join(json.dumps({"_id": k, "text": v}) for k, v in asked.items()))
    qrels.write_text("query-id\tcorpus-id\tscore\n1\towl\t1\n2\tcod\t1\n3\toak\t1\n")
    return ["--corpus", str(corpus), "--queries", str(queries), "--qrels", str(qrels)]


def _eval(*arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "citewell.cli", "eval", "retrieval", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_each_configuration_is_measured(files: list[str]) -> None:
    found = {one["configuration"]: one for one in json.loads(_eval(*files, "--json"))["configurations"]}
    assert {"default", "dense", "lexical", "reciprocal rank", "default + reranker"} <= set(found)
    assert found["default"]["queries"] == 3
    assert found["dense"]["ndcg@10"]["mean"] > found["lexical"]["ndcg@10"]["mean"]
    assert found["lexical"]["ndcg_minus_default"]["mean"] < 0
    for one in found.values():
        for measure in ("ndcg@10", "recall@10", "mrr"):
            assert 0 <= one[measure]["low"] <= one[measure]["mean"] <= one[measure]["high"] <= 1


def test_a_table_for_people_and_a_choice_of_configurations(files: list[str]) -> None:
    said = _eval(*files, "--only", "dense", "--only", "lexical")
    assert "nDCG@10" in said
    assert "lexical" in said
    assert "default" not in said
    assert "3 queries" in said


def test_an_unknown_configuration_is_named(files: list[str]) -> None:
    assert "no search configuration 'magic'" in _eval(*files, "--only", "magic", code=2)
