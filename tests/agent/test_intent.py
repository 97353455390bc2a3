"""Small talk is told from questions by rules alone, whatever politeness is wrapped around them."""

from __future__ import annotations

import pytest

from citewell.agent.interface import PastMessage
from citewell.agent.understand.intent import detect_intent


@pytest.mark.parametrize(
    "message",
    [
        "hi",
        "Thanks, that's helpful",
        "Great, that helps a lot!",
        "Perfect, that answers my question.",
        "ok cool, bye",
        "Who are you?",
        "What can you do?",
        "tell me a joke",
        "Merci beaucoup",
        "👍",
    ],
)
def test_small_talk(message: str) -> None:
    assert detect_intent(message).kind == "general_conversation"


@pytest.mark.parametrize(
    "message",
    [
        "Hi, what's the fee for a second loan?",
        "Thanks! And for returning borrowers?",
        "That helps borrowers?",
        "Can you list the onboarding steps, please?",
        "thank you letter template",
        "What do you have to bring to register?",
        "summarise the joke in the handbook",
        "Loan policy",
    ],
)
def test_questions_and_tasks(message: str) -> None:
    assert detect_intent(message).kind == "document_query"


def test_yes_is_an_answer_where_something_was_asked() -> None:
    asked = (PastMessage("user", "List the fees"), PastMessage("assistant", "Shall I list those of all branches?"))
    assert detect_intent("yes", asked).kind == "document_query"
    assert detect_intent("yes").kind == "general_conversation"
