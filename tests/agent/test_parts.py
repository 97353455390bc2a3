"""A message that asks two questions gets both answers, or the one there is and what is missing."""

from __future__ import annotations

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, PastMessage, TurnRequest
from citewell.agent.turn.parts import parts_of
from citewell.agent.turn.state import TurnState
from citewell.types import Hit
from citewell.types.message_reading import Act, MessageRead
from tests.agent.fakes import WordSearcher, hit
from tests.agent.reading import MESSAGES

FEE = "The fee for the hall is 80 francs a day."
KEYS = "The keys to the hall are kept by Mirjam Suter."
FILES = [hit(FEE, page=1), hit(KEYS, resource="r2", filename="Keys.pdf", page=2, ordinal=1)]


async def ask(message: str, hits: list[Hit] = FILES, history: tuple[PastMessage, ...] = ()) -> Done:
    reader = BuiltinReader(ReadingModel.open())
    assistant = Assistant(WordSearcher(hits), BuiltinEmbedder.load(), answer_reader=reader, message_model=MESSAGES)
    return await assistant.answer(TurnRequest(owner_id="ada", message=message, history=history))


async def test_each_question_is_answered_from_its_own_file() -> None:
    done = await ask("What is the fee for the hall, and who keeps the keys to the hall?")
    assert done.answer.text == f"{FEE} [1]\n\n{KEYS} [2]"
    assert [citation.filename for citation in done.answer.citations] == ["Loan Policy.pdf", "Keys.pdf"]


async def test_the_half_that_is_missing_is_said_to_be_missing() -> None:
    done = await ask("What is the fee for the hall, and who plays the tuba?", FILES[:1])
    assert done.answer.answered
    assert done.answer.text.startswith(f"{FEE} [1]\n\nI don't have enough information to answer “who plays the tuba")


async def test_where_neither_is_answered_one_refusal_is_enough() -> None:
    done = await ask("Who plays the tuba, and when is the next concert?")
    assert not done.answer.answered
    assert done.answer.text.count("I don't have enough information") == 1


def test_what_something_is_compared_with_is_looked_up() -> None:
    message = "What's our CAC and how does it compare to the targets in the plan?"
    piece = message.index("AC")  # models tell of pieces of words
    read = MessageRead(acts={Act.ASK: 1.0}, content=((piece, piece + 2),))
    request = TurnRequest(owner_id="ada", message=message)
    asked = [part.asked for part in parts_of(TurnState(request, lambda _: None, question=message, read=read))]
    assert asked == ["What's our CAC", "What are the targets in the plan? (CAC)"]
