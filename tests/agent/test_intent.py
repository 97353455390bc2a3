"""Small talk is told from what is to be looked up, in whatever language, and never where the files may hold the answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.agent.interface import PastMessage, TurnRequest
from citewell.agent.understand.intent import Intent, intent_of
from citewell.agent.understand.rephrase import rephrase
from citewell.agent.understand.small_talk import SmallTalk, is_reply, reply
from citewell.agent.understand.understanding import MessageReader
from citewell.types import Scope
from citewell.types.message_reading import Act, MessageRead
from tests.agent.reading import MESSAGES


class Words:
    """A vocabulary over a set of words."""

    def __init__(self, *words: str, scope: Scope = Scope()) -> None:
        self.words = frozenset(words)
        self.scope = scope

    async def holds_any(self, owner_id: str, scope: Scope, words: Sequence[str]) -> bool:
        return (owner_id, scope) == ("ada", self.scope) and not self.words.isdisjoint(words)


class Says:
    """A model that says the same of each message, and keeps what it was asked."""

    def __init__(self, read: MessageRead) -> None:
        self.answer = read
        self.asked: list[tuple[str, str]] = []

    async def read(self, message: str, before: str = "") -> MessageRead:
        self.asked.append((message, before))
        return self.answer


async def intent(message: str, *words: str, owner_id: str = "ada") -> Intent:
    reader = MessageReader(MESSAGES, Words(*words))
    return (await reader.read(TurnRequest(owner_id=owner_id, message=message))).intent


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("hi", SmallTalk.GREETING),
        ("Heyyy", SmallTalk.GREETING),
        ("hola", SmallTalk.GREETING),
        ("how's it going today", SmallTalk.GREETING),
        ("Great, thanks a lot!", SmallTalk.THANKS),
        ("Merci beaucoup", SmallTalk.THANKS),
        ("ok cool, bye", SmallTalk.GOODBYE),
        ("👍", SmallTalk.ACKNOWLEDGEMENT),
        ("That answer was wrong.", SmallTalk.FEEDBACK),
        ("Who are you?", SmallTalk.ABOUT_ASSISTANT),
        ("what can you do for me", SmallTalk.ABOUT_ASSISTANT),
        ("Wie geht es dir?", SmallTalk.GREETING),
    ],
)
async def test_small_talk(message: str, kind: SmallTalk) -> None:
    assert (await intent(message)).small_talk is kind


@pytest.mark.parametrize(
    "message",
    [
        "anything about borrowers",
        "Any interesting info on repayment rates?",
        "Hi, what's the fee for a second loan?",
        "Can you list the onboarding steps, please?",
        "what are your fees",
        "summarise the joke in the handbook",
        "Loan policy",
        "¿cuál es la tasa de interés?",
        "Wie lange ist die Kündigungsfrist?",
    ],
)
async def test_everything_else_is_looked_up(message: str) -> None:
    assert (await intent(message)).kind == "document_query"


async def test_a_word_of_the_owners_files_makes_it_a_question() -> None:
    talk = Says(MessageRead({Act.CHITCHAT: 0.9, Act.ASK: 0.1}, content=((12, 19),)))
    message = "do you have parrots"
    for words, owner, kind in (((), "ada", "general_conversation"), (("parrots",), "ada", "document_query")):
        reader = MessageReader(talk, Words(*words))
        assert (await reader.read(TurnRequest(owner_id=owner, message=message))).intent.kind == kind
    reader = MessageReader(talk, Words("parrots"))
    assert (await reader.read(TurnRequest(owner_id="eve", message=message))).intent.kind == "general_conversation"


async def test_words_count_within_the_scope_of_the_message_only() -> None:
    kitchen = Scope(project_ids=("kitchen",))
    talk = Says(MessageRead({Act.CHITCHAT: 1.0}, content=((4, 14),)))
    reader = MessageReader(talk, Words("quokkasoft", scope=kitchen))
    intents = [
        (await reader.read(TurnRequest(owner_id="ada", message="hey quokkasoft", scope=scope))).intent.kind
        for scope in (kitchen, Scope(), Scope(project_ids=("garden",)))
    ]
    assert intents == ["document_query", "general_conversation", "general_conversation"]


async def test_each_message_of_a_thread_is_read_once_beside_the_one_before_it() -> None:
    model = Says(MessageRead({Act.ASK: 1.0}))
    reader = MessageReader(model)
    history = (PastMessage("user", "What is due?"), PastMessage("assistant", "Rent. [1]"))
    for _ in range(2):
        await reader.read(TurnRequest(owner_id="ada", message="And when?", history=history))
    assert model.asked == [("What is due?", ""), ("And when?", "What is due?")]


def test_yes_is_an_answer_where_something_was_asked() -> None:
    asked = (PastMessage("user", "List the fees"), PastMessage("assistant", "Shall I list those of all branches?"))
    said = MessageRead({Act.FEEDBACK: 1.0})
    assert intent_of("yes", said, asked).kind == "document_query"
    assert intent_of("yes", said, ()).kind == "general_conversation"


def test_small_talk_in_a_thread_is_no_subject_of_it() -> None:
    history = (
        PastMessage("user", "What is the fee for a second loan?"),
        PastMessage("assistant", "It is GHS 20. [1]"),
        PastMessage("user", "where were you born"),
        PastMessage("assistant", reply(SmallTalk.ABOUT_ASSISTANT)),
        PastMessage("user", "you are funny"),
        PastMessage("assistant", "Am I?"),
    )
    assert is_reply(history[3].content)
    message = "And when is it due?"
    question = rephrase(message, history, frozenset([message]), frozenset(["you are funny"])).question
    assert "born" not in question
    assert "funny" not in question
