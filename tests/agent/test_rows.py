"""Rows are quoted only for a question that they answer as they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.tables.language.wording import asks_to_compute, is_superlative
from citewell.agent.turn.rows import quotable
from citewell.agent.understand.question import read_question
from citewell.types import ChunkType, Hit
from tests.agent.fakes import hit


def _row(text: str) -> Hit:
    found = hit(text)
    return replace(found, chunk=replace(found.chunk, type=ChunkType.ROW))


ROW = _row("Borrower: Esi Owusu | Branch: Accra | Status: overdue")


@pytest.mark.parametrize(
    "question", ["What is the status of Esi Owusu?", "Which branch is borrower Esi Owusu in?", "Status von Esi Owusu?"]
)
def test_a_row_that_holds_every_word_of_the_question_is_quoted(question: str) -> None:
    assert quotable(read_question(question), [ROW]) == [ROW]


@pytest.mark.parametrize(
    "question",
    [
        "What is the status of Esi Mensah?",
        "Which borrower in Accra has the longest status?",
        "How many are overdue?",
        "status of borrowers",
        "borrowers per branch",
        "Which branch has no overdue borrower?",
        "Wie viele sind overdue?",
        "Welche sind nicht overdue?",
        "Der höchste Status in Accra?",
        "Der älteste Status in Accra?",
        "?",
    ],
)
def test_a_row_is_not_quoted_for_a_word_it_lacks_or_for_what_needs_the_other_rows(question: str) -> None:
    assert quotable(read_question(question), [ROW]) == []


def test_passages_of_other_kinds_stay() -> None:
    passage = hit("Loans are paid monthly.")
    assert quotable(read_question("How many are overdue?"), [ROW, passage]) == [passage]


@pytest.mark.parametrize("question", ["the longest route", "next after Ama", "less than 2 bids", "who was first"])
def test_a_question_that_ranks_compares_or_orders_asks_to_compute(question: str) -> None:
    assert asks_to_compute(question)


@pytest.mark.parametrize("question", ["the interest rate of Ama Mensah", "when did the forest office open", ""])
def test_a_question_about_one_thing_does_not(question: str) -> None:
    assert not asks_to_compute(question)


def test_words_that_only_end_like_a_superlative_are_none() -> None:
    assert [word for word in ("largest", "worst", "Interest", "west", "best") if is_superlative(word)] == [
        "largest",
        "worst",
        "best",
    ]
