"""A question that is complete is left alone, whatever came before; what is not takes from the thread."""

from __future__ import annotations

import pytest

from citewell.agent.interface import PastMessage
from citewell.agent.understand.completeness import is_complete
from citewell.agent.understand.rephrase import rephrase

THREAD = (
    PastMessage("user", "What did Ulta say about its stores in the annual report?"),
    PastMessage("assistant", "Ulta opened 47 stores in fiscal 2022, which raised its expenses. [1]"),
)


@pytest.mark.parametrize(
    "message",
    [
        "Which quarter had the highest expenses?",
        "Who is the director?",
        "What is CAC?",
        "How many borrowers are there in Accra?",
        "List the onboarding steps",
        "Compare Q1 vs Q3 profit",
        "Is it legal to charge interest daily?",
        "How long does it take to get a loan?",
        "When did Greenland sign a treaty granting them special status?",
        "Did more borrowers repay than in 2022?",
        "total number of branches",
        "What is the last row of this table?",
        "Thanks! Which fee applies to a second loan?",
        "Why was the loan of Ama Mensah rejected?",
    ],
)
def test_a_complete_question_is_searched_as_it_is(message: str) -> None:
    assert is_complete(message)
    assert rephrase(message, THREAD).queries == (message,)
    assert rephrase(message, THREAD).question == message


@pytest.mark.parametrize(
    "message",
    [
        "And in fiscal 2023?",
        "What about the expenses?",
        "How many of those are in Ohio?",
        "When was it founded?",
        "How many did they open?",
        "What were its expenses?",
        "And the other ones?",
        "Why?",
        "In Ohio",
        "new stores",
        "What else?",
        "Is that a lot?",
    ],
)
def test_what_leans_on_the_thread_takes_from_it(message: str) -> None:
    assert not is_complete(message)
    queries = rephrase(message, THREAD).queries
    assert any("Ulta" in query for query in queries)


def test_nothing_is_brought_in_without_a_thread() -> None:
    assert rephrase("When was it founded?", ()).queries == ("When was it founded?",)
