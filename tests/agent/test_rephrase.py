"""A question that is complete is left alone, whatever came before; what is not takes from the thread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.interface import PastMessage
from citewell.agent.rules import merge_hits
from citewell.agent.understand.completeness import is_complete
from citewell.agent.understand.rephrase import rephrase
from citewell.agent.understand.topics import find_topic_terms
from citewell.types import Hit
from tests.agent.fakes import hit

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


ORDERS = (
    PastMessage("user", "How can I get a restraining order without naming my address?"),
    PastMessage("assistant", "The clerk of the court keeps the address of those who ask for an order. [1]"),
)


@pytest.mark.parametrize("message", ["How do I file an order?", "What types of orders are there?"])
def test_few_words_that_the_thread_has_too_are_searched_with_its_topic_and_read_as_they_are(message: str) -> None:
    read = rephrase(message, ORDERS)
    assert read.question == message
    assert read.queries[0] == message
    assert "restraining" in read.queries[1]


def test_few_words_that_the_thread_does_not_have_are_searched_as_they_are() -> None:
    assert rephrase("How do I feed a cat?", ORDERS).queries == ("How do I feed a cat?",)


def test_words_that_count_alike_are_taken_in_the_order_they_were_said_in() -> None:
    thread = (PastMessage("user", "barley malt hops yeast water copper"),)
    assert find_topic_terms("And why?", thread, 3) == ["barley", "malt", "hops"]


def test_what_is_found_with_the_topic_counts_more_than_what_is_found_without() -> None:
    alone, both, topical = (hit(text, ordinal=n) for n, text in enumerate(("alone", "both", "topical")))
    merged = merge_hits([ranked(alone, both), ranked(topical, both)], 3)
    assert merged[0].chunk.text == "topical"
    assert merged[1].chunk.text == "alone"


def ranked(*hits: Hit) -> list[Hit]:
    return [replace(found, score=1.0 / place) for place, found in enumerate(hits, start=1)]
