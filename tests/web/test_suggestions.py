"""Questions to begin with: made from headings and columns, and offered only when the file answers them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from citewell.features.suggestions.service import heading_questions, table_questions
from tests.server.running import RunningServer


def _column(name: str, dtype: str = "text", **facts: Any) -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "distinct": 4, **facts}


def _table(*columns: dict[str, Any], rows: int = 4) -> dict[str, Any]:
    return {"columns": list(columns), "row_count": rows}


def test_headings_become_questions_without_their_numbers() -> None:
    headings = ["Loan Policy", "1. Contents", "2.1 First-time borrowers", "IV. How late is late?", "3", "A"]
    assert heading_questions(headings, "Loan Policy", "en") == [
        "How late is late?",
        "What does Loan Policy say about “First-time borrowers”?",
    ]


def test_headings_of_other_languages_are_asked_as_they_stand() -> None:
    assert heading_questions(["Titel", "Wie hoch ist die Gebühr?", "Fristen und Termine"], "Titel", "de") == [
        "Wie hoch ist die Gebühr?",
        "Fristen und Termine",
    ]


def test_a_table_is_asked_for_the_most_and_the_sum_of_its_largest_figures() -> None:
    table = _table(
        _column("Quarter"),
        _column("Staff", "integer", sum=40, mean=10.0),
        _column("Revenue", "number", sum=9e6, mean=2e6),
    )
    assert table_questions([table]) == ["Which quarter has the highest Revenue?", "What is the total Revenue?"]


def test_tables_whose_figures_cannot_be_compared_or_added_are_not_asked() -> None:
    assert table_questions([_table(_column("Unit"), _column("Value", "number", sum=3.0, mean=1.0))]) == []
    assert (
        table_questions([_table(_column("Zip code", "integer", sum=9, mean=3.0), _column("Year", "integer", sum=9))])
        == []
    )
    assert table_questions(None) == []


def test_what_is_offered_is_answered(tmp_path: Path, samples: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        assert server.client.get("/suggestions").json() == {"suggestions": []}
        added = server.client.post("/samples").json()["resource_ids"]
        assert len(added) == len(list(samples.iterdir()))
        for resource_id in added:
            server.wait(resource_id)
        offered = server.client.get("/suggestions").json()["suggestions"]
        assert len({question["resource_id"] for question in offered}) == 3
        for question in offered:
            body = {"message": question["question"], "resource_ids": [question["resource_id"]]}
            answer = server.client.post("/chat", json=body).json()
            assert answer["answered"], question
            assert {citation["resource_id"] for citation in answer["citations"]} == {question["resource_id"]}
