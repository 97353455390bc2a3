"""What speaks for an answer: passages that both legs agree on, the message's own words, statements near to it; and what confidence means."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.confidence import AnswerEvidence, gather, weigh
from citewell.agent.extractive.scoring import ScoredStatement, StatementScorer
from citewell.agent.extractive.thresholds import THRESHOLDS
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, TurnRequest
from citewell.agent.spoken import NO_ANSWER
from citewell.agent.understand.question import read_question, without_request
from citewell.ports import Capability, ChatDelta, ChatMessage, ToolSpec
from citewell.types import Hit, JsonObject, Scores
from tests.agent.fakes import WordEmbedder, WordSearcher, hit
from tests.agent.tables.sheets import OWNER, READER, Sheets

PIER = hit("Boats may stay at the pier for two nights. The pier was built in 1931.", ordinal=1)
DOGS = hit("Dogs are kept on a lead at the pier and in the office.", ordinal=2)
ALL = [
    replace(PIER, scores=Scores(dense=0.7, lexical=4.0, similarity=0.7)),
    replace(DOGS, scores=Scores(dense=0.5, lexical=6.0, similarity=0.5)),
]
SOME = AnswerEvidence(score=0.5, passage=0.5, own=0.5, held=0.5, agreed=False, whether=False)


async def scored(question: str, hits: Sequence[Hit] = ALL, asked: int | None = None) -> list[ScoredStatement]:
    return await StatementScorer(WordEmbedder(), THRESHOLDS).score(read_question(question), hits, asked)


async def gathered(question: str, message: str = "", hits: Sequence[Hit] = ALL) -> AnswerEvidence:
    return gather(read_question(question), message or question, await scored(question, hits), hits)


async def test_words_that_a_thread_added_are_not_asked_for() -> None:
    alone = await gathered("How many nights may boats stay?")
    with_topic = await gathered("How many nights may boats stay? (llamas Peru)", "How many nights may boats stay?")
    assert with_topic.held == alone.held
    assert (await gathered("How many nights may boats stay? (llamas Peru)")).held < alone.held


async def test_a_text_need_not_say_that_it_mentions_something() -> None:
    plain = await gathered("Are there nights at the pier?")
    assert (await gathered("Are nights mentioned at the pier?")).held == plain.held
    assert (await gathered("Are nights forbidden at the pier?")).held < plain.held


async def test_a_rare_word_that_is_missing_weighs_more_than_a_common_one() -> None:
    assert (await gathered("Is the office at the pier?")).held > (await gathered("Is the llama at the pier?")).held
    rare, common = await gathered("pier nights llama"), await gathered("nights lead pier")
    assert rare.held < common.held


@pytest.mark.parametrize(
    ("scores", "agreed"),
    [
        (((0.7, 4.0), (0.5, 6.0)), False),
        (((0.7, 6.0), (0.5, 4.0)), True),
        (((0.7, None), (None, 6.0)), False),
        (((None, None), (None, None)), False),
    ],
)
async def test_the_legs_agree_where_one_passage_is_first_in_both(
    scores: tuple[tuple[float | None, float | None], ...], agreed: bool
) -> None:
    hits = [replace(found, scores=Scores(dense=d, lexical=w)) for found, (d, w) in zip(ALL, scores, strict=True)]
    assert (await gathered("How long may boats stay at the pier?", hits=hits)).agreed is agreed


@pytest.mark.parametrize(
    ("factor", "offset"), [(0.1, 0.8), (1, -0.6), (40, 0)], ids=["squeezed", "shifted", "not normalised"]
)
async def test_the_scale_of_the_indexs_model_is_no_evidence(factor: float, offset: float) -> None:
    question = "How many nights may boats stay at the pier?"
    unknown = [
        replace(found, scores=Scores(dense=factor * (found.scores.dense or 0.0) + offset, lexical=found.scores.lexical))
        for found in ALL
    ]
    without = [replace(found, scores=Scores(lexical=found.scores.lexical)) for found in ALL]
    compared, plain = await gathered(question, hits=unknown), await gathered(question, hits=without)
    assert replace(compared, agreed=False) == replace(plain, agreed=False)
    known = [
        replace(one, scores=replace(one.scores, similarity=was.scores.dense))
        for one, was in zip(unknown, ALL, strict=True)
    ]
    assert await gathered(question, hits=known) == await gathered(question)


@pytest.mark.parametrize(
    ("message", "whether"),
    [("Is it far?", True), ("ok, and can I swim?", True), ("When is it?", False), ("Issues with boats", False)],
)
async def test_a_question_for_yes_or_no_is_told(message: str, whether: bool) -> None:
    assert (await gathered("boats pier", message)).whether is whether


async def test_a_word_of_another_language_that_looks_like_one_of_these_asks_for_no_yes() -> None:
    question = "Was kostet es, wenn ein Boot länger als zwei Nächte am Steg liegt?"
    assert read_question(question).language == "de"
    assert (await gathered(question)).whether is False


def test_more_of_what_speaks_for_an_answer_makes_it_more_probable() -> None:
    likely = weigh(SOME, THRESHOLDS)
    assert 0.0 < likely < 1.0
    for more in ({"score": 0.6}, {"passage": 0.6}, {"own": 0.6}, {"held": 0.6}, {"agreed": True}):
        assert weigh(replace(SOME, **more), THRESHOLDS) > likely  # pyright: ignore[reportArgumentType]


async def test_the_message_is_compared_token_by_token_without_the_threads_words() -> None:
    embedder = BuiltinEmbedder.load()
    scorer = StatementScorer(embedder, THRESHOLDS)
    message, whole = "How long may boats stay?", "How long may boats stay? (llamas Peru)"
    (best, *_) = await scorer.score(read_question(whole), ALL, len(message))
    await embedder.aclose()
    assert best.own > best.interaction


async def test_another_subject_with_the_same_words_is_less_sure_than_what_is_said() -> None:
    embedder = BuiltinEmbedder.load()
    answerer = ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    said = await answerer.answer("For how many nights may boats stay at the pier?", [PIER, DOGS])
    other = await answerer.answer("Who plays the boats in the film The Pier?", [PIER, DOGS])
    await embedder.aclose()
    assert said.answered
    assert other.confidence < 0.5 < said.confidence


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("tell me about dogs", "dogs"),
        ("Can you find anything about the pier?", "the pier?"),
        ("about dogs", "dogs"),
        ("Could you walk me through the stages?", "the stages?"),
        ("What about dogs?", "What about dogs?"),
        ("tell me about ", "tell me about "),
        ("Is there a rule about dogs?", "Is there a rule about dogs?"),
    ],
)
def test_a_request_for_whatever_there_is_is_read_as_its_subject(text: str, subject: str) -> None:
    assert without_request(text) == subject


async def test_whatever_there_is_about_a_subject_is_given() -> None:
    embedder = BuiltinEmbedder.load()
    answerer = ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    plain = await answerer.answer("dogs", [DOGS, PIER])
    asked = await answerer.answer("something about dogs", [DOGS, PIER])
    await embedder.aclose()
    assert asked.answered
    assert asked.text == plain.text
    assert asked.confidence == plain.confidence


class Says:
    """A chat model that says one thing."""

    model = "says"
    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, text: str) -> None:
        self._text = text

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta]:
        yield ChatDelta(text=self._text)


async def asked(text: str) -> Done:
    assistant = Assistant(WordSearcher([PIER, DOGS]), WordEmbedder(), chat_model=Says(text))
    return await assistant.answer(TurnRequest(owner_id="ada", message="How long may boats stay at the pier?"))


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Boats may stay at the pier for two nights [1].", 1.0),
        ("Boats may stay at the pier for two nights [1]. The pier was built in 1899 [1].", 0.5),
        ("Here is what I found. Boats may stay at the pier for two nights [1].", 0.5),
        ("Boats may stay at the pier for two nights.", 1.0),
    ],
    ids=["held", "wrong figure", "uncited", "marked by us"],
)
async def test_of_a_chat_models_answer_it_is_the_share_of_sentences_whose_citations_hold(
    text: str, confidence: float | None
) -> None:
    assert (await asked(text)).answer.confidence == confidence


@pytest.mark.parametrize("text", ["As long as they like.", "It was built for 900 gulls [1].", NO_ANSWER, ""])
async def test_of_an_answer_that_takes_the_place_of_a_chat_models_it_is_that_of_its_passages(text: str) -> None:
    done = await asked(text)
    assert "two nights" in done.answer.text
    assert done.answer.confidence is not None
    assert done.answer.confidence > 0.5
    assert done.notice is not None


async def test_of_a_computed_answer_it_is_the_probability_that_the_table_was_read_right(tmp_path: Path) -> None:
    sheets = Sheets(tmp_path)
    rows = (("Adda", "Takoradi", 31.5), ("Volta", "Tema", 18.0), ("Densu", "Takoradi", 44.2), ("Pra", "Axim", 12.0))
    sheets.add({"Ship": "text", "Port": "text", "Length (m)": "number"}, rows, filename="Ships.csv", sheet=None)
    assistant = Assistant(WordSearcher([]), WordEmbedder(), tables=sheets, table_reader=READER)
    done = await assistant.answer(TurnRequest(owner_id=OWNER, message="What is the average length of the ships?"))
    assert done.answer.answered
    assert done.answer.confidence is not None
    assert 0.5 < done.answer.confidence < 1.0
