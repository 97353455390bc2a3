"""When two questions ask the same beyond doubt: the answer to one is given to the other."""

from __future__ import annotations

import pytest

from citewell.text.same_question import MIN_NEAR, ask_the_same, form_of

_NEAR = 1.0
"""Vectors that tell nothing apart: the words have to."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the price of the boiler?", "what is the price of the boiler"),
        ("What is the price of the boiler?", "boiler price"),
        ("What is the price of the boiler?", "Could you please tell me the boiler's price?"),
        ("What's the fee for a first-time borrower?", "What is the fee for first-time borrowers?"),
        ("When does the contract start?", "I'd like to know when the contract starts."),
        ("Who approved the budget?", "Can you tell me who approved the budget, please?"),
        ("Quand commence le contrat ?", "Pouvez-vous me dire quand commence le contrat ?"),
    ],
)
def test_case_politeness_articles_and_plurals_make_no_other_question(one: str, other: str) -> None:
    assert ask_the_same(one, other)
    assert form_of(one).key == form_of(other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("When does the contract start?", "When does the contract begin?"),
        ("What is the deposit for a bike?", "What is the deposit for a bicycle?"),
        ("When was the siren last tested?", "When was made the last test of the siren?"),
    ],
)
def test_synonyms_make_no_other_question_if_the_vectors_are_near(one: str, other: str) -> None:
    assert ask_the_same(one, other, _NEAR)
    assert not ask_the_same(one, other, MIN_NEAR - 0.01)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What was revenue in 2023?", "What was revenue in 2024?"),
        ("What does invoice 1024 amount to?", "What does invoice 1025 amount to?"),
        ("What is the rent of flat A?", "What is the rent of flat B?"),
        ("Is the rent of house a due?", "Is the rent of a house due?"),
        ("What is Anna Meier's salary?", "What is Anna Meyer's salary?"),
        ("Are cats allowed?", "Are cats not allowed?"),
        ("Is smoking allowed?", "Isn't smoking allowed?"),
        ("Are guests allowed with permission?", "Are guests allowed without permission?"),
        ("What must be done before the audit?", "What must be done after the audit?"),
        ("Which quarter had the highest expenses?", "Which quarter had the lowest expenses?"),
        ("Which costs are at least 100?", "Which costs are at most 100?"),
        ("Where is the meeting held?", "When is the meeting held?"),
        ("Who may vote?", "Who must vote?"),
        ("What was the fee?", "What will the fee be?"),
        ("What do we owe Acme?", "What does Acme owe us?"),
        ("What does the landlord owe the tenant?", "What does the tenant owe the landlord?"),
        ("How far is it from Tema to Accra?", "How far is it from Accra to Tema?"),
        ("What is our CAC?", "What is our CAC target?"),
        ("How many open tickets are there?", "How many tickets are there?"),
        ("What is the notice period for tenants?", "What is the notice period for landlords?"),
        ("Is the garage included in the rent?", "Is the garage excluded from the rent?"),
        ("What does my contract say?", "What does your contract say?"),
        ("Wie hoch ist die höchste Miete?", "Wie hoch ist die niedrigste Miete?"),
        ("Quel est le prix le plus élevé ?", "Quel est le prix le plus bas ?"),
    ],
)
def test_whatever_may_change_the_answer_makes_another_question(one: str, other: str) -> None:
    assert not ask_the_same(one, other, _NEAR)
    assert not ask_the_same(other, one, _NEAR)


def test_a_long_message_is_equal_only_to_itself() -> None:
    long = f"What does this letter ask for? {'Dear tenants, the lift is out of order. ' * 20}"
    assert ask_the_same(long, long)
    assert not ask_the_same(long, long.lower(), _NEAR)
