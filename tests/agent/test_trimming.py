"""A sentence that states the fact asked for is given without what only follows it, and nothing is left out that bears on the fact."""

from __future__ import annotations

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.citations.check import CitationChecker
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.trimming import trim
from citewell.agent.understand.question import read_question
from citewell.types import Verdict
from tests.agent.fakes import hit

QUAY = "The outer quay was closed for 40 days in spring, which the skippers of small boats still remember with anger."


def test_what_only_follows_the_fact_is_left_out() -> None:
    asked = read_question("How many days was the outer quay closed?")
    assert trim(asked, QUAY) == "The outer quay was closed for 40 days in spring…"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Why was the outer quay closed?", QUAY),
        ("How many skippers remember when the quay was closed?", QUAY),
        ("How many days was the quay closed?", "The quay was closed for 40 days last spring, while the pier was closed for 12."),
        ("How many boats may enter the harbour?", "Each day 12 boats may enter the harbour at noon, but not those with sails."),
        ("How many boats may enter the harbour?", "Each day 12 boats may enter the harbour at noon, as long as they do so only under tow."),
        ("How many boats may enter the harbour?", "On weekdays 12 boats may enter the harbour, fishing boats, tugs and ferries."),
        ("How many boats may enter the harbour?", "The rule “12 boats may enter the harbour, which is small, at a time” is old."),
        ("How many boats may enter?", "Some 12 may enter, which is few."),
        ("How many days was the quay closed?", "The quay was closed for 40 days last spring, though the skippers call this an invention."),
        ("How many days was the quay closed?", "The quay was closed for 40 days last spring, which the log of the harbour however denies."),
    ],
    ids=["no fact", "asked of", "another fact", "denial", "limit", "list", "quotation", "short", "doubt", "doubt in a clause"],
)  # fmt: skip
def test_what_bears_on_the_fact_stays(question: str, sentence: str) -> None:
    assert trim(read_question(question), sentence) == sentence


async def test_a_shortened_sentence_is_cited_with_the_words_of_the_source() -> None:
    embedder = BuiltinEmbedder.load()
    passage = hit(f"The harbour was dredged last year. {QUAY} Visitors pay at the office.")
    extract = await ExtractiveAnswerer(embedder).answer("How many days was the outer quay closed?", [passage])
    checked = await CitationChecker(embedder).check("me", extract.text, extract.sources)
    await embedder.aclose()
    assert extract.parts[0] == "The outer quay was closed for 40 days in spring… [1]"
    (citation,) = checked.citations
    assert citation.verdict is Verdict.SUPPORTED
    assert citation.score == 1.0
    assert citation.quote in passage.chunk.text
    assert citation.quote.startswith("The outer quay was closed for 40 days in spring")
