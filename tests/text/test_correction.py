"""Misspelled words of a question are replaced by the nearest word of the texts, else by a common one."""

from __future__ import annotations

import pytest

from citewell.text.correction import Speller, words_of

WORDS = "the what is when does how much can for and do it about cat short meeting start letter better form from collect"
COMMON = {word: place for place, word in enumerate(WORDS.split())}
SPELLER = Speller(lambda: COMMON)
TEXTS = words_of(["The Kovalenko allotment: compost is collected on Thursday.", "Members' deposits"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("when is the compsot collected", "when is the compost collected"),
        ("when is the compost colected", "when is the compost collected"),
        ("what does Kovalenkoo pay", "what does Kovalenko pay"),
        ("is the alotmant free", "is the allotment free"),
        ("when does the meetng start", "when does the meeting start"),
    ],
    ids=["swapped", "left out", "name of the texts", "two letters", "common word"],
)
def test_a_misspelled_word_is_corrected(written: str, meant: str) -> None:
    assert SPELLER.correct(written, TEXTS).casefold() == meant.casefold()


@pytest.mark.parametrize(
    "question",
    [
        "what is the compost for",
        "when do deposited composts start",
        "does Mrs Zetterlund collect it",
        "does teh cat",
        "what is it's form",
        "what about abcdefghijklmnopqrstuvwxyz",
        "wat is XG-4471?",
        "Wann wird der Kompst abgeholt und wer macht das?",
    ],
    ids=["known", "with endings", "a name", "short", "apostrophe", "no word", "code", "another language"],
)
def test_what_may_be_right_stays(question: str) -> None:
    assert SPELLER.correct(question, words_of(["the compost is collected and deposited"])) == question


def test_a_word_of_the_texts_comes_before_a_common_one() -> None:
    assert SPELLER.correct("the lettr", words_of(["lettre"])) == "the lettre"
    assert SPELLER.correct("the lettr") == "the letter"


def test_a_long_question_is_corrected_as_far_as_it_is_read() -> None:
    assert SPELLER.correct("compsot " * 500, TEXTS).split().count("compost") == 60


def test_a_question_in_another_language_is_corrected_by_texts_in_it_alone() -> None:
    speller = Speller(dict)
    question = "Wie lange ist die Kuendigungsfrst der Wohnung?"
    german = words_of(
        ["Die Kuendigungsfrist ist drei Monate, und der Brief muss bis zum Ende des Monats bei uns sein."]
    )
    english = words_of(
        ["The kuendigungsfrist is three months, and the letter must be with us by the end of the month."]
    )
    assert speller.correct(question, german) == "Wie lange ist die kuendigungsfrist der Wohnung?"
    assert speller.correct(question, english) == question
