"""A question that is complete is left alone, whatever came before; what is not takes from the thread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.interface import PastMessage
from citewell.agent.rules import merge_hits
from citewell.agent.understand.completeness import is_complete
from citewell.agent.understand.rephrase import rephrase
from citewell.agent.understand.topics import find_topic_terms
from citewell.types import Hit, Scores
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
        "How much holiday do I get?",
        "How long is the notice period?",
        "How many days of holiday are there?",
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
        "What is another word for a rotor?",
        "Given that rates rose, how many loans were repaid?",
        "It is not clear to me how a loan is approved",
        "experimental results on hypersonic viscous interaction",
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
        "What is another word for it?",
        "regional differences in price",
        "How many days?",
        "how much money",
        "What year was that?",
        "how much was the loan?",
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


@pytest.mark.parametrize(
    "message", ["How do I file an order?", "What types of orders are there?", "Who pays my expenses?"]
)
def test_a_complete_question_is_read_and_searched_as_it_is_and_the_thread_orders_what_it_finds(message: str) -> None:
    read = rephrase(message, ORDERS)
    assert (read.question, read.queries) == (message, (message,))
    assert read.beside.startswith(message)
    assert "restraining" in read.beside


def test_what_leans_on_the_thread_is_ordered_by_the_question_before_it_too() -> None:
    read = rephrase("And when is it heard?", ORDERS)
    assert read.beside == f"{ORDERS[0].content} And when is it heard?"


def test_a_new_question_after_what_about_takes_the_place_of_no_phrase() -> None:
    asked = (PastMessage("user", "Why can I not apply a subscription code?"),)
    message = "what about why can't I apply a feature code?"
    assert all(query.startswith(message) for query in rephrase(message, asked).queries)


def test_words_that_count_alike_are_taken_in_the_order_they_were_said_in() -> None:
    thread = (PastMessage("user", "barley malt hops yeast water copper"),)
    assert find_topic_terms("And why?", thread, 3) == ["barley", "malt", "hops"]


def test_what_is_found_with_the_topic_counts_more_than_what_is_found_without() -> None:
    alone, both, topical = (hit(text, ordinal=n) for n, text in enumerate(("alone", "both", "topical")))
    merged = merge_hits([ranked(alone, both), ranked(topical, both)], 3)
    assert merged[0].chunk.text == "topical"
    assert merged[1].chunk.text == "alone"


def test_what_is_found_beside_moves_up_what_is_found_and_adds_nothing() -> None:
    first, second, other = (hit(text, ordinal=n) for n, text in enumerate(("first", "second", "other")))
    merged = merge_hits([ranked(first, second)], 3, ranked(other, second, first))
    assert {one.chunk.text for one in merged} == {"first", "second"}
    third = hit("third", ordinal=3)
    assert merge_hits([ranked(first, second, third)], 3, ranked(second, third))[0].chunk.text == "second"


def test_a_hit_is_as_near_as_the_query_that_it_is_nearest_to() -> None:
    asked, whole, beside = (
        [replace(hit("found", ordinal=1), scores=Scores(dense=near, lexical=words))]
        for near, words in ((0.3, 2.0), (0.5, 6.0), (0.4, 4.0))
    )
    (found,) = merge_hits([asked, whole], 3, beside)
    assert found.scores == Scores(dense=0.5, lexical=2.0)
    (found,) = merge_hits([asked], 3, beside)
    assert found.scores.dense == 0.4
    by_words = [replace(one, scores=Scores(lexical=1.0)) for one in asked]
    assert merge_hits([by_words, by_words], 3)[0].scores.dense is None


def ranked(*hits: Hit) -> list[Hit]:
    return [replace(found, score=1.0 / place) for place, found in enumerate(hits, start=1)]


@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (
            ("What's the maximum loan size for first-time borrowers?", "And for the second loan?"),
            "What's the maximum loan size for the second loan?",
        ),
        (("average salary in Sales", "and in Finance?", "What about in IT?"), "average salary in IT"),
        (
            ("How much was spent on travel in March?", "and on software?"),
            "How much was spent on software in March?",
        ),
        (("How much was spent on travel in March?", "and in April?"), "How much was spent on travel in April?"),
        (("salary of Raj Patel", "and Lea?"), "salary of Lea"),
        (("maximum loan for first-time borrowers", "and returning borrowers?"), "maximum loan for returning borrowers"),
    ],
)
def test_a_phrase_takes_the_place_of_the_one_after_the_same_preposition(turns: tuple[str, ...], question: str) -> None:
    thread = [PastMessage("user", text) for text in turns[:-1]]
    assert rephrase(turns[-1], thread).question == question


def test_a_phrase_after_a_preposition_that_was_not_there_replaces_nothing() -> None:
    found = rephrase("and in the first year?", [PastMessage("user", "What is the notice period?")])
    assert found.question.startswith("and in the first year? (")


def test_of_tables_is_asked_in_the_askers_own_words() -> None:
    """What an answer named would be a condition of the query: the total of one invoice in place of all that are unpaid."""
    thread = [
        PastMessage("user", "which invoices are unpaid"),
        PastMessage("assistant", "- Invoice: INV-03 [1]\n- Invoice: INV-05 [2]\n- Invoice: INV-07 [3]"),
    ]
    assert rephrase("what is their total?", thread).asked == "what is their total? (invoices unpaid)"
    assert rephrase("How many invoices are there?", thread).asked == ""
