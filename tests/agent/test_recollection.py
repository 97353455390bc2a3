"""Which messages lean on earlier conversations, and what they are about."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from citewell.agent.understand.recollection import read_leaning

_TODAY = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("What did we decide about the boiler?", "boiler"),
        ("As I told you, the budget is 40,000. What does the offer cost?", "budget"),
        ("In our last chat, which firm did you recommend?", "firm"),
        ("I mentioned my daughter's allergy, which menu fits?", "allergy"),
        ("Was haben wir über die Heizung beschlossen?", "Heizung"),
        ("Qu'avons-nous décidé pour la chaudière ?", "chaudière"),
        ("¿Qué te dije del presupuesto?", "presupuesto"),
    ],
)
def test_who_was_here_and_what_was_said_leans(message: str, topic: str) -> None:
    leaning = read_leaning(message, _TODAY)
    assert leaning is not None
    assert topic in leaning.topic


@pytest.mark.parametrize(
    "message",
    [
        "What did the board decide about the boiler?",
        "What does the contract say about notice?",
        "Who told Karl to leave?",
        "What was agreed in the last meeting?",
        "Wann wurde die Heizung beschlossen?",
        "Qu'a décidé le comité ?",
        "¿Qué dice el contrato?",
    ],
)
def test_what_others_said_does_not_lean(message: str) -> None:
    assert read_leaning(message, _TODAY) is None


def test_a_time_in_the_message_narrows_it() -> None:
    leaning = read_leaning("What did I tell you on 12 November about parking?", _TODAY)
    assert leaning is not None
    assert leaning.covers(datetime(2026, 11, 12, 15))
    assert not leaning.covers(datetime(2026, 11, 13, 9))
