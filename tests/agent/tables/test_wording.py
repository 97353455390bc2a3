"""The words of a question: numbers however they are written, stems that match, phrases word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.tables.language.wording import FILLERS, find_phrase, norm, norms, number_of, words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("5,000", 5_000),
        ("1,234,567.5", 1_234_567.5),
        ("2.5", 2.5),
        ("-7", -7),
        ("−7", -7),
        ("12%", 12),
        ("5k", 5_000),
        ("2.5M", 2_500_000),
        ("1bn", 1_000_000_000),
        ("5,00", None),
        ("1.2.3", None),
        ("Q1", None),
        ("five", None),
        ("", None),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, value: float | None) -> None:
    assert number_of(text) == value
    assert type(number_of(text)) is type(value)


@given(st.integers(-(10**15), 10**15))
def test_a_number_means_the_same_with_and_without_signs_of_thousands(value: int) -> None:
    assert number_of(str(value)) == number_of(f"{value:,}") == value


def test_a_question_is_split_where_it_can_be_pointed_to() -> None:
    question = "What's the Amount (GHS) for loans > 5,000 in Q1/2025, or -3%?"
    found = words(question)
    assert [question[w.start : w.end] for w in found] == [w.text for w in found]
    texts = [w.text for w in found]
    assert texts == ["What's", "the", "Amount", "GHS", "for", "loans", ">", "5,000", "in", "Q1/2025", "or", "-3%"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loans", "Loan"),
        ("BRANCH", "branches"),
        ("Ama's", "ama"),
        ("disbursed", "disburse"),
        ("5,000", "5000"),
        ("5k", "5000"),
    ],
)
def test_forms_of_a_word_compare_equal(one: str, other: str) -> None:
    assert norm(one) == norm(other)


@pytest.mark.parametrize(("one", "other"), [("Q1", "Q2"), ("5%", "5"), ("L-001", "L-002"), ("paid", "unpaid")])
def test_different_words_and_codes_stay_different(one: str, other: str) -> None:
    assert norm(one) != norm(other)


def test_the_words_of_a_name_are_compared_each() -> None:
    assert norms("Days overdue (as of 30/06)") == ("day", "overdu", "as", "of", "30/06")
    assert norms("—") == ()


def test_phrases_are_found_word_by_word_in_any_case() -> None:
    question = words("How many loans? how MANY of them, somehow many?")
    assert list(find_phrase(question, "how many")) == [0, 3]
    assert list(find_phrase(question, "how many", start=1)) == [3]
    assert list(find_phrase(question, "many more")) == []


def test_fillers_carry_no_meaning() -> None:
    assert {norm(word) for word in ("the", "in", "rows", "file")} <= FILLERS | {norm("rows")}
    assert not {norm(word) for word in ("not", "overdue", "second", "percentage", "except")} & FILLERS
