"""What a reader says of a statement decides which one answers, and how much of it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.scoring import Read, StatementScorer
from citewell.agent.extractive.thresholds import THRESHOLDS
from citewell.agent.extractive.trimming import trim
from citewell.agent.understand.question import read_question
from citewell.types import AnswerSpan, ChunkType, StatementRead
from tests.agent.fakes import WordEmbedder, hit

FERRY = hit("The ferry sails every morning, green and white. Passengers buy bread on it. It departs at nine sharp.")
QUESTION = "When does the boat leave for the island?"


class Marks:
    """A reader that is sure of one word, and that no statement without it answers."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.seen: list[tuple[str, StatementRead]] = []

    async def read(self, question: str, statements: Sequence[StatementRead]) -> list[AnswerSpan]:
        self.seen += [(question, one) for one in statements]
        places = [one.text.find(self.word) for one in statements]
        return [
            AnswerSpan(8.0 if place >= 0 else -8.0, max(place, 0), max(place, 0) + len(self.word)) for place in places
        ]


def _read(text: str, answer: str, probability: float = 0.9) -> Read:
    start = text.index(answer)
    return Read(probability, answer, start, start + len(answer))


async def test_a_statement_that_shares_no_word_is_first_where_the_reader_finds_the_answer_in_it() -> None:
    question, reader = read_question(QUESTION), Marks("nine")
    without = await StatementScorer(WordEmbedder(), THRESHOLDS).score(question, [FERRY])
    scored = await StatementScorer(WordEmbedder(), THRESHOLDS, reader).score(question, [FERRY])
    assert without[0].statement.shown.startswith("The ferry sails")
    assert scored[0].statement.shown == "It departs at nine sharp."
    assert scored[0].read is not None
    assert scored[0].read.answer == "nine"
    assert {one.statement.shown: one.unread for one in scored} == {one.statement.shown: one.score for one in without}


async def test_the_reader_sees_the_statement_before_or_the_heading() -> None:
    reader = Marks("nine")
    passage = hit("It sails at nine. It is red.", headings=("Ferry",))
    await StatementScorer(WordEmbedder(), THRESHOLDS, reader).score(read_question(QUESTION), [passage])
    assert {one for _, one in reader.seen} == {
        StatementRead("It sails at nine.", "Ferry"),
        StatementRead("It is red.", "It sails at nine."),
    }


async def test_rows_of_tables_and_pictures_are_not_read() -> None:
    reader = Marks("nine")
    scorer = StatementScorer(WordEmbedder(), THRESHOLDS, reader)
    table = hit("| Ferry | Sails |\n| --- | --- |\n| island | nine |")
    scored = await scorer.score(read_question(QUESTION), [table])
    assert [one.read for one in scored] == [None]
    assert scored[0].score == scored[0].unread
    picture = hit("A ferry leaves the island at nine.", type=ChunkType.IMAGE)
    assert [one.read for one in await scorer.score(read_question(QUESTION), [picture])] == [None]
    assert reader.seen == []


async def test_a_row_keeps_its_place_beside_the_sentence_that_is_best_without_a_reader() -> None:
    text = "| Ferry | Sails |\n| --- | --- |\n| island | nine |\n\nThe ferry sails at noon. The island sells bread."
    scorer = StatementScorer(WordEmbedder(), THRESHOLDS, Marks("bread"))
    scored = await scorer.score(read_question("When does the island ferry sail at noon?"), [hit(text)])
    row = next(one for one in scored if one.statement.row)
    best, other = sorted((one for one in scored if one.read is not None), key=lambda one: -one.unread)
    assert row.read is None
    assert (row.score > best.score) == (row.unread > best.unread)
    assert best.read is not None
    assert other.read is not None
    assert other.read.probability > 0.9 > 0.1 > best.read.probability


async def test_of_statements_that_say_the_same_of_different_things_the_search_says_which_is_meant() -> None:
    first, second = (
        hit(f"The notice period of the printer's contract is one month before {month}.", resource=month)
        for month in ("June", "March")
    )
    asked = read_question("What is the notice period of the contract?")
    scored = await StatementScorer(WordEmbedder(), THRESHOLDS, Marks("March")).score(asked, [first, second])
    assert "June" in scored[0].statement.shown


async def test_an_answer_ends_with_the_clause_that_the_reader_marked() -> None:
    passage = hit("The pier was built by local smiths from oak, a wood that lasts in salt water for decades.")
    extract = await ExtractiveAnswerer(WordEmbedder(), replace(THRESHOLDS, answer=0.0), Marks("oak")).answer(
        "What was the pier built from by the smiths?", [passage]
    )
    assert extract.parts[0] == "The pier was built by local smiths from oak… [1]"


async def test_a_further_sentence_with_the_same_answer_is_left_out() -> None:
    passages = [
        hit("The island ferry sails at noon.", resource="a"),
        hit("At noon a boat leaves for the island, and many ferry their bicycles on it.", resource="b"),
    ]
    limits = replace(THRESHOLDS, answer=0.0, close=0.0, adds=0.0)
    both, one = [
        await ExtractiveAnswerer(WordEmbedder(), limits, reader).answer("When does the island ferry sail?", passages)
        for reader in (None, Marks("noon"))
    ]
    assert len(both.parts) == 2
    assert len(one.parts) == 1


@pytest.mark.parametrize(
    ("question", "sentence", "answer"),
    [
        ("What may enter?", "Small fishing boats may enter the harbour, but not those with sails.", "Small fishing boats"),
        ("What may enter the harbour?", "Into the harbour may come small boats, tugs, ferries and rafts of all kinds.", "small boats"),
        ("What may enter the harbour?", "Into the harbour may come small boats, and rafts made of wood.", "small boats"),
        ("What may enter the harbour at noon?", "Small fishing boats may enter the port, from noon on every day.", "Small fishing boats"),
        ("What may enter?", "Small fishing boats may enter (tugs and rafts, which are wide, do too).", "Small fishing boats"),
        ("What is said?", 'It is said: "small boats enter, and large ones, which are many, wait."', "small boats"),
        ("What may enter?", "Small boats enter, as the harbour is not deep.", "Small boats"),
        ("What is the dividend?", "The dividend was proposed at EUR 1.20 per share; the board decided in favour of EUR 1.05.", "EUR 1.20"),
        ("What is the bonus?", "The works council asked for 12%, while the board has agreed to a bonus of 6%.", "12%"),
        ("Ab wann kann man kündigen?", "Der Vertrag kann monatlich gekündigt werden, im ersten Jahr jedoch in keinem Fall.", "monatlich"),
        ("What may enter?", "Boats do, which is well known here.", "Boats"),
        ("What made the fees so high?", "The fees rose to a mean of 23.5 euros a boat, primarily due to the dredging.", "to a mean of 23.5 euros"),
        ("By how much did the fees rise, and what drove it?", "The fees rose to a mean of 23.5 euros a boat, primarily due to the dredging.", "to a mean of 23.5 euros"),
    ],
    ids=["limit", "list", "and", "asked of", "bracket", "quotation", "denial", "another amount", "another share", "German", "short", "no fact", "cause"],
)  # fmt: skip
def test_what_bears_on_the_answer_stays(question: str, sentence: str, answer: str) -> None:
    assert trim(read_question(question), sentence, _read(sentence, answer)) == sentence


def test_a_reader_in_doubt_or_of_other_words_leaves_the_sentence_whole() -> None:
    sentence = "The harbour master of the port is Ada Okafor, a friend of the mayor and of his wife."
    question, read = read_question("Who is the harbour master?"), _read(sentence, "Ada Okafor")
    assert trim(question, sentence, read) == "The harbour master of the port is Ada Okafor…"
    assert trim(question, sentence, replace(read, probability=THRESHOLDS.read_certain - 0.01)) == sentence
    assert trim(question, sentence, replace(read, answer="Kofi Mensah")) == sentence


async def test_an_answer_is_as_sure_as_the_reader_is() -> None:
    found, none = [
        await ExtractiveAnswerer(WordEmbedder(), THRESHOLDS, Marks(word)).answer(QUESTION, [FERRY])
        for word in ("every morning", "never")
    ]
    assert found.confidence > 3 * none.confidence
    assert none.confidence < THRESHOLDS.answer_read
