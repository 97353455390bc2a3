"""Small talk is told from what is to be looked up, whatever politeness is wrapped around it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.interface import PastMessage, TurnRequest
from citewell.agent.understand.intent import Doubt, detect_intent, read_words
from citewell.agent.understand.likeness import SmallTalkLikeness
from citewell.agent.understand.rephrase import rephrase
from citewell.agent.understand.small_talk import SmallTalk, is_reply, reply
from citewell.agent.understand.understanding import MessageReader
from citewell.types import Scope
from tests.agent.fakes import WordEmbedder


class Words:
    """A vocabulary over a set of words, which keeps what it was asked."""

    def __init__(self, *words: str, scope: Scope = Scope()) -> None:
        self.words = frozenset(words)
        self.scope = scope
        self.asked: list[Sequence[str]] = []

    async def holds_any(self, owner_id: str, scope: Scope, words: Sequence[str]) -> bool:
        self.asked.append(words)
        return (owner_id, scope) == ("ada", self.scope) and not self.words.isdisjoint(words)


@pytest.fixture(scope="module")
def embedder() -> Generator[BuiltinEmbedder]:
    built_in = BuiltinEmbedder.load()
    yield built_in
    asyncio.run(built_in.aclose())


async def read(embedder: BuiltinEmbedder, message: str, *words: str, owner_id: str = "ada") -> SmallTalk | None:
    reader = MessageReader(embedder, Words(*words))
    return (await reader.read(TurnRequest(owner_id=owner_id, message=message))).intent.small_talk


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("hi", SmallTalk.GREETING),
        ("Heyyy", SmallTalk.GREETING),
        ("gm", SmallTalk.GREETING),
        ("hola", SmallTalk.GREETING),
        ("Thanks, that's helpful", SmallTalk.THANKS),
        ("Great, thanks a lot!", SmallTalk.THANKS),
        ("thnks", SmallTalk.THANKS),
        ("cheers mate", SmallTalk.THANKS),
        ("Merci beaucoup", SmallTalk.THANKS),
        ("谢谢", SmallTalk.THANKS),
        ("ok cool, bye", SmallTalk.GOODBYE),
        ("Perfect.", SmallTalk.ACKNOWLEDGEMENT),
        ("👍", SmallTalk.ACKNOWLEDGEMENT),
    ],
)
def test_plain_politeness_is_known_by_its_words(message: str, kind: SmallTalk) -> None:
    assert detect_intent(message).small_talk is kind


@pytest.mark.full
@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("how's it going today", SmallTalk.GREETING),
        ("what a great help you were", SmallTalk.THANKS),
        ("catch you tomorrow", SmallTalk.GOODBYE),
        ("Who are you?", SmallTalk.ABOUT_ASSISTANT),
        ("what sort of stuff can you do", SmallTalk.ABOUT_ASSISTANT),
        ("Could you tell me who invented you?", SmallTalk.ABOUT_ASSISTANT),
    ],
)
async def test_other_small_talk_is_known_by_its_meaning(
    embedder: BuiltinEmbedder, message: str, kind: SmallTalk
) -> None:
    assert await read(embedder, message) is kind


@pytest.mark.full
@pytest.mark.parametrize(
    "message",
    [
        "anything about borrowers",
        "something about insurance",
        "weird facts about our sales",
        "Any interesting info on repayment rates?",
        "tell me a joke",
        "What is the meaning of life?",
        "give me a fun fact",
        "Hi, what's the fee for a second loan?",
        "Thanks! And for returning borrowers?",
        "Can you list the onboarding steps, please?",
        "thank you letter template",
        "What do you have to bring to register?",
        "what are your fees",
        "summarise the joke in the handbook",
        "Loan policy",
        "who wrote this",
        "¿cuál es la tasa de interés?",
    ],
)
async def test_everything_else_is_looked_up(embedder: BuiltinEmbedder, message: str) -> None:
    assert await read(embedder, message) is None


async def test_a_word_of_the_owners_files_makes_it_a_question(embedder: BuiltinEmbedder) -> None:
    message = "do you have parrots"
    assert await read(embedder, message) is SmallTalk.ABOUT_ASSISTANT
    assert await read(embedder, message, "parrots") is None
    assert await read(embedder, message, "parrots", owner_id="eve") is SmallTalk.ABOUT_ASSISTANT


def test_words_of_small_talk_itself_are_not_asked_of_the_files() -> None:
    doubt = read_words("so what is your name, and do you keep parrots?")
    assert isinstance(doubt, Doubt)
    assert "parrots" in doubt.words
    assert not {"name", "what", "you", "your"} & set(doubt.words)


async def test_what_the_words_tell_costs_no_embedding() -> None:
    embedder = WordEmbedder()
    reader = MessageReader(embedder, Words())
    for message in ("Thanks!", "x" * 2_000, "Good morning everyone", "word " * 21):
        await reader.read(TurnRequest(owner_id="ada", message=message))
    assert embedder.texts == []


async def test_phrases_are_embedded_once() -> None:
    embedder = WordEmbedder()
    likeness = SmallTalkLikeness(embedder)
    await likeness.measure("what are the fees", about=False)
    before = len(embedder.texts)
    await likeness.measure("what is the rate", about=False)
    assert len(embedder.texts) == before + 1


def test_yes_is_an_answer_where_something_was_asked() -> None:
    asked = (PastMessage("user", "List the fees"), PastMessage("assistant", "Shall I list those of all branches?"))
    assert detect_intent("yes", asked).kind == "document_query"
    assert detect_intent("yes").kind == "general_conversation"


def test_small_talk_in_a_thread_is_no_subject_of_it() -> None:
    history = (
        PastMessage("user", "What is the fee for a second loan?"),
        PastMessage("assistant", "It is GHS 20. [1]"),
        PastMessage("user", "where were you born"),
        PastMessage("assistant", reply(SmallTalk.ABOUT_ASSISTANT)),
    )
    assert is_reply(history[-1].content)
    assert "born" not in rephrase("And when is it due?", history).question


async def test_words_count_within_the_scope_of_the_message_only(embedder: BuiltinEmbedder) -> None:
    kitchen = Scope(project_ids=("kitchen",))
    reader = MessageReader(embedder, Words("quokkasoft", scope=kitchen))
    intents = [
        (await reader.read(TurnRequest(owner_id="ada", message="hey quokkasoft", scope=scope))).intent.kind
        for scope in (kitchen, Scope(), Scope(project_ids=("garden",)))
    ]
    assert intents == ["document_query", "general_conversation", "general_conversation"]
