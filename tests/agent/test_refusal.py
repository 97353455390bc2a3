"""Why there is no answer: the first reason that holds, and what would help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.extractive.refusal import explain
from citewell.types import ChunkType, Hit, NoAnswerReason
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


def test_of_passages_in_another_language_the_language_is_named() -> None:
    why = explain("Wie hoch sind die Gebühren für verspätete Zahlungen, und wann werden sie fällig?", [LOANS])
    assert why.reason is NoAnswerReason.OTHER_LANGUAGE
    assert "auf Englisch" in why.text
    assert "Fragen Sie auf Englisch" in why.hint


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("How much interest is due in a year?", "year"),
        ("How many loans for boats have been given?", "The passages found do not clearly say how many."),
        ("How far does the loan for boats go?", "The passages found do not clearly say how far."),
        ("What are several major loans done for boats?", "The passages found are about it, but none states this."),
    ],
)
def test_words_of_number_and_degree_and_general_verbs_are_never_called_missing(question: str, says: str) -> None:
    assert says in explain(question, [LOANS]).text
    assert "“many”" not in explain(question, [LOANS]).text


def test_names_are_called_missing_before_other_words() -> None:
    assert (
        explain("How are loans insured at Lloyds?", [LOANS]).text == "No passage found mentions “Lloyds” or “insured”."
    )


def test_part_of_a_compound_is_not_called_missing() -> None:
    rent = hit(
        "Das Mietverhältnis ist auf unbestimmte Zeit geschlossen, und die Miete wird bis zum dritten Werktag gezahlt."
    )
    text = replace(rent, filename="Mietvertrag.md")
    assert "Vertrag" not in explain("Wo wird der Vertrag von uns unterschrieben?", [text]).text


def test_a_title_written_in_full_is_mentioned_by_its_abbreviation() -> None:
    found = hit("Ada Reed has been chief executive officer since the year in which the bank was founded by her father.")
    assert "CEO" not in explain("Who is paid more than the CEO?", [found]).text


def test_rows_tables_and_summaries_do_not_tell_the_language_of_passages() -> None:
    asked = "Wie hoch ist die größte Ausgabe, und wann war das?"
    summary = _of_type(
        "The sheet has four columns and is about what was spent on food and on power in a year.", ChunkType.SUMMARY
    )
    row = _of_type(
        "Name: Ama de la Cruz | Town: Elmina | Note: she is one of those who have not yet been to it", ChunkType.ROW
    )
    assert explain(asked, [summary, row]).reason is not NoAnswerReason.OTHER_LANGUAGE
    assert explain(asked, [summary, row, LOANS]).reason is NoAnswerReason.OTHER_LANGUAGE


def test_a_language_that_some_passage_is_in_is_no_reason() -> None:
    german = hit(
        "Die Zahlungen sind am Ende des Monats fällig, und wer sie nicht leistet, zahlt eine Gebühr von zwei Euro an uns."
    )
    asked = "Wie hoch sind die Strafen für den Verzug?"
    assert explain(asked, [LOANS, LOANS, german]).reason is not NoAnswerReason.OTHER_LANGUAGE


def test_a_few_words_tell_no_language() -> None:
    assert explain("Summe Strom", [LOANS]).reason is NoAnswerReason.NOT_MENTIONED


def _of_type(text: str, kind: ChunkType) -> Hit:
    found = hit(text)
    return replace(found, chunk=replace(found.chunk, type=kind))
