"""The training material has the form that `training/README.md` describes, and the SQL of its tables gives what is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDER = Path(__file__).resolve().parents[2] / "training"
STYLES = {"plain", "plain2", "short", "polite", "indirect", "story", "order", "nonnative", "typo", "casual"}
OTHERS = {"de", "fr", "es", "it", "nl", "pt", "en", "en2"}
KINDS = _words(
    "number money percent date time duration person organisation place contact code yesno reason condition procedure definition"
    " list comparison description quantity"
)
OPERATIONS = _words(
    "lookup count distinct sum average extreme topn filter group difference change share trend compare exists"
)
ACTS = _words(
    "ask summary about files mentions listall picture translate greeting thanks bye howareyou chitchat feedback help outside"
)
FILES = sorted(FOLDER.glob("*/*.jsonl"))


def lines(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in FILES:
        if file.parent.name == kind:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                yield f"{file.name}:{number}", json.loads(line)


def check_wordings(where: str, wordings: Mapping[str, str], fewest: int) -> None:
    assert set(wordings) <= STYLES | OTHERS, where
    assert len(STYLES & set(wordings)) >= fewest, where
    for style in STYLES & set(wordings):
        assert re.fullmatch(r"[^\[\]]*(?:\[[^\[\]]+\][^\[\]]*)+", wordings[style]), (where, style)


def test_an_answer_stands_in_its_passage_beside_passages_that_do_not_answer() -> None:
    for where, one in lines("passages"):
        assert one["a"], where
        assert one["a"] in one["p"], where
        assert one["kind"] in KINDS, where
        assert min(len(one["near"]), len(one["not"])) >= 2, where
        check_wordings(where, one["q"], 7)


def test_the_answers_of_a_document_stand_in_sentences_of_it() -> None:
    for where, one in lines("documents"):
        for asked in one["qs"]:
            assert asked["kind"] in KINDS, where
            assert all(part in one["text"] for part in (*asked["a"], *asked["s"])), (where, asked["a"])
            assert all(any(answer in sentence for sentence in asked["s"]) for answer in asked["a"]), (where, asked["a"])
            check_wordings(where, asked["q"], 10)
        for missing in one["not"]:
            check_wordings(where, missing["q"], 4)


def test_a_message_says_what_it_wants_and_whether_it_leans_on_the_thread() -> None:
    for where, one in lines("messages"):
        assert one["act"] in ACTS, where
        assert one["lang"] in OTHERS, where
        assert bool(one.get("leans")) == bool(one.get("full")), where
        assert not one.get("leans") or one["prev"], where


def _type_of(values: list[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    return "BIGINT" if kinds == {int} else "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"


@pytest.mark.full
def test_the_query_of_a_table_question_gives_something() -> None:
    for where, one in lines("tables"):
        connection = duckdb.connect()
        types = [_type_of([row[place] for row in one["rows"]]) for place in range(len(one["cols"]))]
        columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(one["cols"], types, strict=True))
        connection.execute(f"CREATE TABLE t ({columns})")
        marks = ", ".join("?" * len(types))
        for row in one["rows"]:
            connection.execute(f"INSERT INTO t VALUES ({marks})", row)
        for asked in one["qs"]:
            assert asked["op"] in OPERATIONS, where
            check_wordings(where, asked["q"], 5)
            rows = connection.execute(asked["sql"]).fetchall()
            assert any(cell is not None for row in rows for cell in row), (where, asked["sql"])
