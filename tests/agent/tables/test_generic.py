"""Questions about whatever is of a kind are told from those about certain rows."""

from __future__ import annotations

import pytest

from citewell.agent.tables.language.generic import asks_of_a_kind


@pytest.mark.parametrize(
    "question",
    [
        "When is a loan overdue?",
        "when are loans overdue",
        "What is an overdue loan?",
        "What are any exempt items?",
        "Why is a parcel returned?",
        "How does an account become dormant?",
        "What does overdue mean?",
        "What counts as overdue?",
    ],
)
def test_what_is_asked_of_any_thing_of_a_kind(question: str) -> None:
    assert asks_of_a_kind(question)


@pytest.mark.parametrize(
    "question",
    [
        "When is the loan overdue?",
        "When was a loan last disbursed?",
        "When are the instalments due?",
        "When is AC-2513 due?",
        "What is the status of Esi Owusu?",
        "What are the overdue loans?",
        "What is the mean?",
        "Which loans are overdue?",
        "How many loans are overdue?",
        "Who is a guarantor?",
        "When is?",
        "",
    ],
)
def test_what_is_asked_of_certain_things(question: str) -> None:
    assert not asks_of_a_kind(question)
