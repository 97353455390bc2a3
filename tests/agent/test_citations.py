"""The citation checker: what is true passes, what is planted is caught. Real embeddings, text that the test ships."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.citations.check import CheckedAnswer, CitationChecker
from citewell.agent.interface import Source
from citewell.types import Box, Element, ElementType, Locator, Piece, Verdict
from tests.agent.fakes import StoredElements, hit

LENDING = hit(
    "A first-time borrower may receive at most GHS 5,000. The ceiling rises to GHS 12,000 after two loans were paid back in time. "
    "Interest is 2.5% per month, charged on what is still owed.",
    page=3,
)
BRANCHES = hit(
    "The branch in Tema opens at eight and closes at half past four. On market days it stays open until six. "
    "Queues are shortest before ten in the morning.",
    filename="Handbook.pdf",
    resource="r2",
    page=9,
)
GARDENS = hit(
    "Tomatoes need six hours of sun a day. Water them in the evening, at the root and never on the leaves.",
    filename="Garden.md",
    resource="r3",
)
SOURCES = tuple(Source(n, found) for n, found in enumerate((LENDING, BRANCHES, GARDENS), start=1))


@pytest.fixture
async def checker() -> AsyncIterator[CitationChecker]:
    embedder = BuiltinEmbedder.load()
    yield CitationChecker(embedder)
    await embedder.aclose()


def verdicts(checked: CheckedAnswer) -> dict[int, Verdict]:
    return {citation.n: citation.verdict for citation in checked.citations}


@pytest.mark.parametrize(
    "answer",
    [
        "A first-time borrower may receive at most GHS 5,000 [1].",
        "First-time borrowers may receive 5000 cedis (GHS) at most [1].",
        "The ceiling goes up to GHS 12 000 once two loans have been repaid on time [1].",
        "Interest is 2.5 % a month on what is still owed. [1]",
        "The Tema branch opens at eight [2] and tomatoes need six hours of sun a day [3].",
        'The handbook says that "queues are shortest before ten in the morning" [2].',
    ],
)
async def test_what_the_source_says_is_supported(checker: CitationChecker, answer: str) -> None:
    checked = await checker.check("ada", answer, SOURCES)
    assert Verdict.UNSUPPORTED not in verdicts(checked).values(), checked.reasons
    assert checked.removed == ()


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("A first-time borrower may receive at most GHS 6,000 [1].", {1}),
        ("Interest is 25% per month, charged on what is still owed [1].", {1}),
        ("A first-time borrower may receive at most GHS 5,000 [2].", {2}),
        ("The branch in Tema opens at eight [3]. Tomatoes need six hours of sun a day [2].", {2, 3}),
        ('The policy says "no borrower shall ever be charged interest at all" [1].', {1}),
        ("The branch in Tema sells fishing licences to visitors from abroad [2].", {2}),
    ],
)
async def test_what_is_planted_is_unsupported(checker: CitationChecker, answer: str, wrong: set[int]) -> None:
    checked = await checker.check("ada", answer, SOURCES)
    assert {n for n, verdict in verdicts(checked).items() if verdict is Verdict.UNSUPPORTED} == wrong
    assert set(checked.reasons) >= wrong or "fishing" in answer


async def test_numbers_of_nothing_are_taken_out_and_told(checker: CitationChecker) -> None:
    checked = await checker.check("ada", "Tomatoes need six hours of sun a day [3][7]. Bees help [9].", SOURCES)
    assert checked.text == "Tomatoes need six hours of sun a day [3]. Bees help."
    assert checked.removed == (7, 9)


async def test_a_claim_may_rest_on_two_sources_together(checker: CitationChecker) -> None:
    answer = "Borrowers may receive GHS 5,000 and the branch in Tema is open until six on market days [1][2]."
    assert Verdict.UNSUPPORTED not in verdicts(await checker.check("ada", answer, SOURCES)).values()


async def test_one_number_has_the_verdict_of_its_weakest_claim(checker: CitationChecker) -> None:
    answer = "Interest is 2.5% per month [1]. A first-time borrower may receive at most GHS 9,999 [1]."
    assert verdicts(await checker.check("ada", answer, SOURCES)) == {1: Verdict.UNSUPPORTED}


async def test_a_name_that_the_source_lacks_and_a_denial_make_a_claim_weak(checker: CitationChecker) -> None:
    answer = "The Kumasi branch opens at eight and closes at half past four [2]. Interest is not 2.5% per month, charged on what is owed [1]."
    found = verdicts(await checker.check("ada", answer, SOURCES))
    assert found[2] is not Verdict.SUPPORTED
    assert found[1] is not Verdict.SUPPORTED


async def test_the_quote_is_the_span_that_says_it(checker: CitationChecker) -> None:
    checked = await checker.check("ada", "Interest is 2.5% per month, charged on what is still owed [1].", SOURCES)
    assert checked.citations[0].quote == "Interest is 2.5% per month, charged on what is still owed"


async def test_the_rectangles_are_those_of_the_quoted_lines() -> None:
    first, second = "A first-time borrower may receive at most GHS 5,000.", "Interest is 2.5% per month."
    boxes = (Box(3, 10.0, 20.0, 200.0, 32.0), Box(3, 10.0, 40.0, 200.0, 52.0))
    element = Element(
        id="e1",
        type=ElementType.PARAGRAPH,
        text=f"{first}\n{second}",
        locator=Locator(page=3, pages=(3,), boxes=boxes),
        span_starts=(0, len(first) + 1),
    )
    found = hit(element.text, page=3, pieces=(Piece("e1", 0, len(element.text)),))
    embedder = BuiltinEmbedder.load()
    checker = CitationChecker(embedder, StoredElements({"e1": element}))
    checked = await checker.check("ada", "Interest is 2.5% per month [1].", (Source(1, found),))
    await embedder.aclose()
    assert checked.citations[0].locator.boxes == boxes[1:]
    assert checked.citations[0].label == "Loan Policy.pdf (p. 3)"


async def test_what_stands_word_by_word_costs_no_embedding() -> None:
    class Refusing:
        async def embed(self, texts: object, kind: object = "document") -> object:
            raise AssertionError("embedded")

    checker = CitationChecker(Refusing())  # pyright: ignore[reportArgumentType]
    checked = await checker.check("ada", "Tomatoes need six hours of sun a day [3].", SOURCES)
    assert verdicts(checked) == {3: Verdict.SUPPORTED}
