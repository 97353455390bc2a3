"""Questions in one language about passages in another are compared by the model that reads both."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.scoring import StatementScorer
from citewell.agent.extractive.thresholds import THRESHOLDS
from citewell.agent.understand.question import read_question
from tests.agent.fakes import WordEmbedder, hit

MUSEUM = hit(
    "The clock museum was founded in 1923 by Clara Voss. A ticket for adults costs 12 euros. "
    "The great hall was closed in spring because the roof leaked.",
    headings=("About the museum",),
)
JARDIN = hit(
    "La roseraie est fermée le lundi. Les chiens doivent être tenus en laisse. Le jardin compte 340 variétés de roses.",
    headings=("Visite",),
    ordinal=1,
)


@pytest.fixture
async def across() -> AsyncIterator[BuiltinEmbedder]:
    embedder = BuiltinEmbedder.multilingual()
    yield embedder
    await embedder.aclose()


@pytest.fixture
async def answerer(across: BuiltinEmbedder) -> AsyncIterator[ExtractiveAnswerer]:
    embedder = BuiltinEmbedder.load()
    yield ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()), across=across)
    await embedder.aclose()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Wer hat das Uhrenmuseum gegründet?", "Clara Voss"),
        ("¿Cuánto cuesta una entrada para adultos?", "12 euros"),
        ("Warum war die große Halle geschlossen?", "roof leaked"),
        ("How many kinds of roses does the garden have?", "340 variétés"),
        ("Must dogs be on a leash?", "tenus en laisse"),
    ],
)
async def test_the_statement_in_the_other_language_is_the_best(
    across: BuiltinEmbedder, question: str, words: str
) -> None:
    scorer = StatementScorer(WordEmbedder(), THRESHOLDS, across=across)
    best, *_ = await scorer.score(read_question(question), [MUSEUM, JARDIN])
    assert words in best.statement.shown


async def test_it_answers(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer("¿Cuánto cuesta una entrada para adultos?", [MUSEUM, JARDIN])
    assert found.text == "A ticket for adults costs 12 euros. [1]"
    found = await answerer.answer("Must dogs be on a leash?", [MUSEUM, JARDIN])
    assert "tenus en laisse" in found.text


@pytest.mark.parametrize("question", ["Wer hat das Dach repariert?", "How much is a ticket for the rose garden?"])
async def test_what_no_statement_says_is_refused(answerer: ExtractiveAnswerer, question: str) -> None:
    assert not (await answerer.answer(question, [MUSEUM, JARDIN])).answered


async def test_only_what_is_not_in_english_is_compared_by_it(across: BuiltinEmbedder) -> None:
    question = read_question("Who founded the museum?")
    alone = await StatementScorer(WordEmbedder(), THRESHOLDS).score(question, [MUSEUM, JARDIN])
    beside = await StatementScorer(WordEmbedder(), THRESHOLDS, across=across).score(question, [MUSEUM, JARDIN])
    changed = {one.statement.shown for one in beside} - {
        one.statement.shown
        for one in beside
        if any(one.statement == other.statement and one.interaction == other.interaction for other in alone)
    }
    assert changed == {one.statement.shown for one in beside if one.statement.hit is JARDIN}
