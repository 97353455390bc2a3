"""A question that is complete is left alone, whatever came before; what is not takes from the thread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.interface import PastMessage
from citewell.agent.rules import merge_hits
from citewell.agent.understand.rephrase import rephrase
from citewell.agent.understand.topics import find_topic_terms
from citewell.types import Hit, Scores
from tests.agent.fakes import hit

THREAD = (
    PastMessage("user", "What did Ulta say about its stores in the annual report?"),
    PastMessage("assistant", "Ulta opened 47 stores in fiscal 2022, which raised its expenses. [1]"),
)


def leaning(*messages: str) -> frozenset[str]:
    return frozenset(messages)


def test_a_complete_question_is_searched_as_it_is() -> None:
    message = "Which quarter had the highest expenses?"
    assert rephrase(message, THREAD, leaning()).queries == (message,)
    assert rephrase(message, THREAD, leaning()).question == message


def test_what_leans_on_the_thread_takes_from_it() -> None:
    message = "How many of those are in Ohio?"
    assert any("Ulta" in query for query in rephrase(message, THREAD, leaning(message)).queries)


def test_nothing_is_brought_in_without_a_thread() -> None:
    assert rephrase("When was it founded?", (), leaning()).queries == ("When was it founded?",)


ORDERS = (
    PastMessage("user", "How can I get a restraining order without naming my address?"),
    PastMessage("assistant", "The clerk of the court keeps the address of those who ask for an order. [1]"),
)


@pytest.mark.parametrize(
    "message", ["How do I file an order?", "What types of orders are there?", "Who pays my expenses?"]
)
def test_a_complete_question_is_read_and_searched_as_it_is_and_the_thread_orders_what_it_finds(message: str) -> None:
    read = rephrase(message, ORDERS, leaning())
    assert (read.question, read.queries) == (message, (message,))
    assert read.beside.startswith(message)
    assert "restraining" in read.beside


def test_what_leans_on_the_thread_is_ordered_by_the_question_before_it_too() -> None:
    message = "And when is it heard?"
    read = rephrase(message, ORDERS, leaning(message))
    assert read.beside == f"{ORDERS[0].content} And when is it heard?"


def test_a_new_question_after_what_about_takes_the_place_of_no_phrase() -> None:
    asked = (PastMessage("user", "Why can I not apply a subscription code?"),)
    message = "what about why can't I apply a feature code?"
    assert all(query.startswith(message) for query in rephrase(message, asked, leaning(message)).queries)


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
    assert rephrase(turns[-1], thread, leaning(*turns[1:])).question == question


def test_a_phrase_after_a_preposition_that_was_not_there_replaces_nothing() -> None:
    message = "and in the first year?"
    found = rephrase(message, [PastMessage("user", "What is the notice period?")], leaning(message))
    assert found.question.startswith("and in the first year? (")


def test_of_tables_is_asked_in_the_askers_own_words() -> None:
    """What an answer named would be a condition of the query: the total of one invoice in place of all that are unpaid."""
    thread = [
        PastMessage("user", "which invoices are unpaid"),
        PastMessage("assistant", "- Invoice: INV-03 [1]\n- Invoice: INV-05 [2]\n- Invoice: INV-07 [3]"),
    ]
    message = "what is their total?"
    assert rephrase(message, thread, leaning(message)).asked == "what is their total? (invoices unpaid)"
    assert rephrase("How many invoices are there?", thread, leaning()).asked == ""
