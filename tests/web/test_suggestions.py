"""Questions to begin with: made from facts, headings and columns, and offered only when the file answers them from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.features.suggestions.candidates import Candidate, Origin, is_answered
from citewell.features.suggestions.facts import fact_questions
from citewell.features.suggestions.headings import heading_questions
from citewell.features.suggestions.inversion import inverted
from citewell.features.suggestions.tables import table_questions
from citewell.types import Citation, Locator, Verdict
from tests.server.in_process import InProcessServer


def _column(name: str, dtype: str = "text", **facts: Any) -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "distinct": 4, **facts}


def _table(*columns: dict[str, Any], rows: int = 4) -> dict[str, Any]:
    return {"columns": list(columns), "row_count": rows}


def _asked(candidates: list[Candidate]) -> list[str]:
    return [candidate.wordings[0] for candidate in candidates]


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("The emergency fund is GHS 30,000.", "What is the emergency fund?"),
        (
            "A first-time borrower may receive at most GHS 5,000, never more.",
            "How much may a first-time borrower receive?",
        ),
        ("The office opens at 9:00 on weekdays.", "When does the office open?"),
        ("The bridge was built in 1932 by the town.", "When was the bridge built?"),
        ("There are 312 active borrowers in three branches.", "How many active borrowers are there?"),
        ("An annual pass costs €40 for residents.", "How much does an annual pass cost?"),
    ],
)
def test_a_sentence_that_says_a_figure_is_asked_for_it(sentence: str, question: str) -> None:
    assert fact_questions([f"Some words before. {sentence}"]) == [Candidate(Origin.FACT, (question,), sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The reason that it is 5 is unknown.",
        "The result is 17.",
        "It is GHS 30,000.",
        "The board was grateful for 20 years of work.",
        "The plan is good.",
    ],
)
def test_a_sentence_that_says_nothing_by_itself_is_not_asked(sentence: str) -> None:
    assert fact_questions([sentence]) == []


def test_headings_become_questions_without_their_numbers() -> None:
    headings = [
        "Loan Policy",
        "1. Contents",
        "2.1 First-time borrowers",
        "IV. How late is late?",
        "3",
        "A",
        "Why it works",
    ]
    assert _asked(heading_questions(headings, "en")) == [
        "How late is late?",
        "Why does it work?",
        "What should I know about first-time borrowers?",
    ]


def test_names_in_headings_stay_large() -> None:
    headings = [
        "Plan",
        "Takoradi in the spring",
        "Growth of Takoradi branch",
        "Markets and fees",
        "Group Lending Rules",
    ]
    assert _asked(heading_questions(headings, None)) == [
        "What should I know about Takoradi in the spring?",
        "What should I know about growth of Takoradi branch?",
        "What should I know about markets and fees?",
        "What should I know about Group Lending Rules?",
    ]


def test_headings_that_tell_to_do_something_ask_how() -> None:
    assert _asked(heading_questions(["Guide", "Protect columns by masks", "Part II", "Let’s swim!"], "en-GB")) == [
        "How do I protect columns by masks?"
    ]


def test_headings_of_other_languages_are_asked_in_them() -> None:
    assert _asked(heading_questions(["Titel", "Wie hoch ist die Gebühr?", "Fristen und Termine"], "de")) == [
        "Wie hoch ist die Gebühr?",
        "Was steht dort über „Fristen und Termine“?",
    ]


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("What we do", "What do we do?"),
        ("How a loan earns money", "How does a loan earn money?"),
        ("How your work is judged", "How is your work judged?"),
        ("What could go wrong", "What could go wrong?"),
        ("How to Get New Ideas", "How do I get new ideas?"),
        ("Who we are, and why", None),
        ("Fees and charges", None),
    ],
)
def test_headings_with_a_question_word_are_turned_round(heading: str, question: str | None) -> None:
    assert inverted(heading) == question


def test_a_table_is_asked_for_the_most_and_the_sum_of_its_largest_figures() -> None:
    table = _table(
        _column("Quarter"),
        _column("Staff", "integer", sum=40, mean=10.0),
        _column("Net_Revenue (GHS)", "number", sum=9e6, mean=2e6),
    )
    assert _asked(table_questions([table])) == [
        "Which quarter has the highest net revenue?",
        "What is the total net revenue?",
    ]


def test_many_rows_of_few_kinds_are_asked_by_kind() -> None:
    table = _table(_column("Region"), _column("Amount", "number", sum=9.0, mean=2.0), rows=40)
    assert _asked(table_questions([table])) == [
        "Which region has the highest total amount?",
        "What is the total amount?",
    ]


@pytest.mark.parametrize(
    "name", ["Zip code", "Year", "col-3", "col_a value", "links[10]", "in millions of CHF", "Page", "Q"]
)
def test_columns_that_nobody_would_call_by_their_names_are_not_asked(name: str) -> None:
    assert table_questions([_table(_column(name, "number", sum=9.0, mean=3.0))]) == []
    assert table_questions(None) == []


def test_tables_whose_figures_cannot_be_compared_are_not_asked() -> None:
    assert table_questions([_table(_column("Unit"), _column("Value of it", "number", sum=3.0, mean=1.0))]) == []


def _citation(quote: str, *headings: str, verdict: Verdict = Verdict.SUPPORTED) -> Citation:
    return Citation(
        n=1,
        chunk_id="c",
        resource_id="r",
        version=1,
        filename="f",
        locator=Locator(headings=headings),
        label="f",
        quote=quote,
        verdict=verdict,
        score=0.9,
    )


def test_an_answer_must_rest_on_what_the_question_was_made_from() -> None:
    fact = Candidate(Origin.FACT, ("What is the fee?",), "The fee is GHS 20.")
    assert is_answered(fact, [_citation("The fee is GHS 20.")])
    assert not is_answered(fact, [_citation("The fee is GHS 20.", verdict=Verdict.WEAK)])
    assert not is_answered(fact, [_citation("Fees are named in cedis.")])
    section = Candidate(Origin.HEADING, ("How late is late?",), "4. How late is late?")
    assert is_answered(
        section, [_citation("After seven days an instalment counts as late.", "Policy", "4. How late is late?")]
    )
    assert not is_answered(section, [_citation("After seven days an instalment counts as late.", "Policy", "5. Fees")])
    assert not is_answered(section, [_citation("4. How late is late?", "4. How late is late?")])
    assert not is_answered(section, [])


@pytest.mark.full
def test_what_is_offered_is_answered(tmp_path: Path, samples: Path) -> None:
    with InProcessServer(tmp_path / "data") as server:
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
