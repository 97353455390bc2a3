"""Why there is no answer: the first reason that holds, and what would help."""

from __future__ import annotations

from citewell.agent.extractive.refusal import explain
from citewell.types import NoAnswerReason
from tests.agent.fakes import hit

LOANS = hit(
    "A loan for fishing boats is repaid in twelve months. Interest is due each month, and late payments cost a fee."
)


def test_with_nothing_found_there_is_nothing_in_scope() -> None:
    why = explain("What does a loan cost?", [])
    assert why.reason is NoAnswerReason.NOTHING_IN_SCOPE
    assert "Upload" in why.hint


def test_what_could_not_be_computed_says_why() -> None:
    why = explain("What is the average fee?", [LOANS], "no column for “fee”")
    assert why.reason is NoAnswerReason.NOT_COMPUTED
    assert "no column for “fee”" in why.text


def test_words_that_no_passage_has_are_named_as_they_were_written() -> None:
    why = explain("How are loans for Tractors insured?", [LOANS])
    assert why.reason is NoAnswerReason.NOT_MENTIONED
    assert why.text == "No passage found mentions “Tractors” or “insured”."


def test_what_a_text_does_with_its_subject_is_not_called_missing() -> None:
    why = explain("Do these notes mention tractors?", [LOANS])
    assert why.text == "No passage found mentions “notes” or “tractors”."


def test_words_that_are_there_without_the_answer_are_not_called_missing() -> None:
    assert explain("Are payments on loans late?", [LOANS]).reason is NoAnswerReason.NOT_STATED


def test_a_question_in_another_language_is_said_to_be_beyond_the_model() -> None:
    why = explain("Wie hoch sind die Gebühren für verspätete Zahlungen, und wann werden sie fällig?", [LOANS])
    assert why.reason is NoAnswerReason.OTHER_LANGUAGE
    assert "German" in why.text
    assert "Ask in English" in why.hint
