"""An answer of any shape is checked, and said piece by piece, in time proportional to its length.

A chat model that obeys a file decides what an answer looks like, so the shapes are generated from the tokens that mean something to
the checker: each of them repeated, between words, alternating with a citation, and nested.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from citewell.agent.citations.check import CitationChecker
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.interface import Source
from tests.agent.fakes import WordEmbedder, hit

pytestmark = pytest.mark.full

SHORT = 4_000  # characters; the long answers have four times as many
GROWTH = 9  # of CPU time from the short answer to the long one: 4 is linear, 16 quadratic
NEGLIGIBLE = 0.05  # seconds of CPU time for a long answer, which say nothing about growth
TOKEN = 16  # characters of a piece in which a model writes

TOKENS = (
    "[1]", "[2]", "[[1]", "[1, ", "[1-50]", "[^1]", "[", "]", "(", ")", "{", "<", "&", "`", "```", "~~~", "*", "**", "_", "#", "- ", "> ",
    "|", '"', "“", "«", "'", ".", "!", "?", "…", ":", ";", ",", "-", "\\", "\n", "\t", " ", "1. ", "17 ", "e.g. ", "www.", "http://", "。",
    "not ",
)  # fmt: skip
SHAPES = {
    **{f"{token!r} repeated": token for token in TOKENS},
    **{f"{token!r} between words": f"a {token} b " for token in TOKENS},
    **{f"{token!r} before a citation": f" {token}[1]" for token in TOKENS},
    "sentences with citations": "The heron nests in April [1]. ",
    "opened once more each time": " [[1]",
}
NESTED = {f"{pair} nested": pair for pair in ("[]", "()", "“”", "<>")}

_SOURCES = (
    Source(1, hit("The heron nests in April. It eats fish and frogs [2].")),
    Source(3, hit("Boats, 17 of them.")),
)
_CHECKER = CitationChecker(WordEmbedder())


def _answer(shape: str, length: int) -> str:
    if shape in NESTED:
        half = length // 2
        return NESTED[shape][0] * half + "[1]" + NESTED[shape][1] * half
    unit = SHAPES[shape]
    return (unit * (length // len(unit) + 1))[:length]


def _check(answer: str) -> None:
    asyncio.run(_CHECKER.check("ada", answer, _SOURCES, settled=True))


def _say(answer: str) -> None:
    writer = AnswerWriter(lambda _: None, lambda: _SOURCES)
    for start in range(0, len(answer), TOKEN):
        writer.write(answer[start : start + TOKEN])
    writer.finish()


def _seconds(work: Callable[[str], None], answer: str) -> float:
    begin = time.process_time()
    work(answer)
    return time.process_time() - begin


def _growth(work: Callable[[str], None], shape: str) -> float:
    """How many times as much CPU the long answer takes; the least of three measurements, as other programs disturb each."""
    short, long = _answer(shape, SHORT), _answer(shape, 4 * SHORT)
    growth = float("inf")
    for _ in range(3):
        spent = _seconds(work, long)
        if spent <= NEGLIGIBLE:
            return 1.0
        growth = min(growth, spent / _seconds(work, short))
        if growth <= GROWTH:
            break
    return growth


@pytest.mark.parametrize("work", [_check, _say])
def test_four_times_the_answer_takes_about_four_times_the_cpu_whatever_its_shape(work: Callable[[str], None]) -> None:
    shapes = [shape for shape in (*SHAPES, *NESTED) if work is _check or "between" not in shape]
    grown = {shape: round(_growth(work, shape), 1) for shape in shapes}
    assert not {shape: growth for shape, growth in grown.items() if growth > GROWTH}


def test_twenty_thousand_characters_of_unclosed_citations_compare_the_words_with_a_passage_a_few_times() -> None:
    checker = CitationChecker(embedder := WordEmbedder())
    asyncio.run(checker.check("ada", " [[1]" * 4_000, _SOURCES))
    assert sum(map(len, embedder.texts)) < 50_000


def test_what_an_answer_repeats_is_judged_once() -> None:
    checker = CitationChecker(embedder := WordEmbedder())
    checked = asyncio.run(checker.check("ada", "Herons breed in spring [1]. " * 500, _SOURCES))
    assert embedder.texts.count("Herons breed in spring") == 1
    assert [citation.n for citation in checked.citations] == [1]
