"""How far a passage supports a claim: the scores of words, meanings and doubts, and what refutes it whatever they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from citewell.agent.citations.check import with_references
from citewell.agent.citations.matching import Match, find_match
from citewell.agent.citations.support import (
    THRESHOLDS,
    CitedText,
    Support,
    containment,
    evidence_text,
    find_objections,
    judge_paraphrase,
    locate_claim,
    read_passages,
    verdict_of,
    with_differences,
    with_objections,
)
from citewell.agent.citations.wording import Differences
from citewell.types import ChunkType, Citation, Locator, Verdict
from tests.agent.fakes import WordEmbedder, hit

TEXT = "The lamp is red. The door is green. Nobody opens it at night."


def _flat(*similarities: float) -> tuple[CitedText, np.ndarray]:
    """A passage of three sentences with these similarities to the vector that comes with it, each in a dimension of its own."""
    vectors = np.zeros((3, 4), np.float32)
    for row, similarity in enumerate(similarities):
        vectors[row, 0] = similarity
        vectors[row, row + 1] = (1 - similarity**2) ** 0.5
    spans = ((0, 16), (17, 35), (36, 61))
    return CitedText(TEXT, TEXT, spans, vectors), np.array([1, 0, 0, 0], np.float32)


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        (1.0, Verdict.SUPPORTED), (0.62, Verdict.SUPPORTED), (0.6199, Verdict.WEAK), (0.45, Verdict.WEAK),
        (0.4499, Verdict.UNSUPPORTED), (0.0, Verdict.UNSUPPORTED),
    ],
)  # fmt: skip
def test_verdicts_by_score(score: float, verdict: Verdict) -> None:
    assert verdict_of(score) is verdict


@pytest.mark.parametrize(("score", "kept"), [(0.9, 0.3), (0.3, 0.3), (0.1, 0.1)])
def test_an_objection_refutes_whatever_the_score(score: float, kept: float) -> None:
    found = with_objections(Support(Verdict.SUPPORTED, score, 3, 7, ("first",)), ("second",))
    assert found == Support(Verdict.UNSUPPORTED, kept, 3, 7, ("first", "second"))


def test_meaning_alone_weighs_half() -> None:
    passage, vector = _flat(0.8, 0.1, 0.0)
    found = judge_paraphrase("zzz qqq", vector, passage, Match(0, 0, 0.0))
    assert (round(found.score, 4), found.verdict, found.start, found.end) == (0.4, Verdict.UNSUPPORTED, 0, 16)


def test_two_sentences_in_a_row_are_nearer_than_each_alone() -> None:
    passage, vector = _flat(0.0, 0.7, 0.7)
    found = judge_paraphrase("zzz qqq", vector, passage, Match(0, 0, 0.0))
    assert (found.start, found.end) == (17, 61)
    assert found.score == pytest.approx(0.5 * 1.4 / (1.4**2 + 2 * (1 - 0.49)) ** 0.5)


def test_similarity_below_zero_counts_as_none() -> None:
    passage, vector = _flat(-0.9, -0.9, -0.9)
    assert judge_paraphrase("The lamp", vector, passage, Match(0, 0, 0.0)).score == pytest.approx(0.5)


def test_a_passage_without_sentences_is_one() -> None:
    empty = CitedText("???", "???", (), np.zeros((0, 4), np.float32))
    found = judge_paraphrase("lamp", np.ones(4, np.float32), empty, Match(0, 0, 0.0))
    assert (found.score, found.start, found.end) == (0.0, 0, 3)


def test_words_that_nearly_stand_there_place_the_support_in_their_sentence() -> None:
    passage, vector = _flat(0.9, 0.0, 0.0)
    claim = "the door was green"
    found = judge_paraphrase(claim, vector, passage, find_match(claim, TEXT))
    assert (found.start, found.end) == (17, 35)
    assert found.score == pytest.approx(max(0.75 * 0.95, 0.45 + 0.5))
    assert found.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("differences", "doubts", "verdict", "score"),
    [
        (Differences(), (), Verdict.SUPPORTED, 0.9),
        (Differences(doubts=("a",)), (), Verdict.WEAK, 0.61),
        (Differences(), ("a",), Verdict.WEAK, 0.61),
        (Differences(contradictions=("a",), covered=0.69), (), Verdict.WEAK, 0.61),
        (Differences(contradictions=("a",), covered=0.7), (), Verdict.UNSUPPORTED, 0.3),
    ],
)
def test_what_a_claim_says_otherwise_counts_against_it_the_more_the_nearer_it_is_to_the_source(
    differences: Differences, doubts: tuple[str, ...], verdict: Verdict, score: float
) -> None:
    found = with_differences(Support(Verdict.SUPPORTED, 0.9, 3, 7), differences, doubts)
    assert (found.verdict, found.score, found.start, found.end) == (verdict, score, 3, 7)
    assert found.reasons == (("a",) if differences != Differences() or doubts else ())


def test_a_doubt_raises_no_score() -> None:
    weak = Support(Verdict.WEAK, 0.5, 3, 7, ("first",))
    assert with_differences(weak, Differences(doubts=("a",)), ("b",)) == replace(weak, reasons=("first", "a", "b"))


def test_nouns_have_to_be_more_alike_than_other_words() -> None:
    assert (THRESHOLDS.least_similar(True), THRESHOLDS.least_similar(False)) == (0.93, 0.85)


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("...", ["5"], ("no words stand before it",)),
        ("it costs 5", ["it costs 5"], ()),
        ("it costs 5 and 6, 6", ["it costs 5"], ("figure 6 is not in the source",)),
        ("it costs 5 and 6", ["it costs 5", "or 6"], ()),
        ('he says "the lamp is red"', ["look: the lamp is red!"], ()),
        (
            'he says "the lamp is blue"',
            ["look: the lamp is red!"],
            ("quotation is not in the source: the lamp is blue",),
        ),
        ('he says "the lamp is red"', ["the lamp", "is red"], ("quotation is not in the source: the lamp is red",)),
        ('he says "the lamp is red"', [], ("quotation is not in the source: the lamp is red",)),
    ],
)
def test_figures_and_quotations_have_to_be_in_the_evidence(
    claim: str, evidence: list[str], expected: tuple[str, ...]
) -> None:
    assert find_objections(claim, evidence) == expected


def test_containment_is_the_share_of_terms() -> None:
    assert containment("red lamps", "a lamp that is red") == 1.0
    assert containment("lamp or tree", "the lamp and the door") == 0.5
    assert containment("the of", "anything") == 1.0


def test_evidence_is_the_passage_with_what_is_over_it() -> None:
    found = hit("The text.", headings=("Part", "Chapter"), filename="a.md")
    found = replace(found, chunk=replace(found.chunk, context="Context."))
    assert evidence_text(found) == "a.md\nContext.\nPart\nChapter\nThe text."


def test_a_heading_states_a_claim_for_the_first_sentence_below_it() -> None:
    below = hit(TEXT, headings=("How to open the door",))
    assert locate_claim("How to open the door", below) == Match(0, 16, 1.0)
    assert locate_claim("How to open the door", below).shown == "How to open the door"
    assert locate_claim("How to open the window", below).ratio < 1.0


def test_a_row_may_be_quoted_with_the_words_of_its_header() -> None:
    table = "| Month | Visitors |\n| --- | --- |\n| January | 120 |\n| February | 340 |"
    found = locate_claim("Month: February, Visitors: 340", hit(table, type=ChunkType.TABLE))
    assert (found.ratio, found.shown) == (1.0, "Month: February; Visitors: 340")
    assert "February" in table[found.start : found.end]
    assert "January" not in table[found.start : found.end]


async def test_all_passages_are_read_with_one_call_and_each_has_its_own_vectors() -> None:
    embedder = WordEmbedder()
    passages = await read_passages(embedder, [hit("One. Two lamps."), hit(""), hit("Three doors.")])
    assert embedder.texts == ["One.", "Two lamps.", "Three doors."]
    assert [len(p.vectors) for p in passages] == [2, 0, 1]
    assert np.array_equal(passages[2].vectors, await WordEmbedder().embed(["Three doors."]))
    assert (await read_passages(embedder, [hit("")]))[0].vectors.shape == (0, 512)


def test_references_are_a_line_per_citation_in_the_order_of_numbers() -> None:
    def citation(n: int, label: str) -> Citation:
        return Citation(
            n=n, chunk_id="c", resource_id="r", version=1, filename="a", locator=Locator(), label=label, quote="q",
            verdict=Verdict.SUPPORTED, score=1.0,
        )  # fmt: skip

    text = with_references("It is so [2][1].", [citation(2, "B.pdf (p. 2)"), citation(1, "A [3].pdf")])
    assert text.startswith("It is so [2][1].\n\nReferences\n[1] A ")
    assert text.endswith("\n[2] B.pdf (p. 2)")
    assert "[3]" not in text


def test_pages_of_one_file_are_one_line_of_references() -> None:
    def on(n: int, file: str, page: int, *pages: int) -> Citation:
        locator = Locator(page=page, pages=pages or (page,))
        return Citation(
            n=n, chunk_id="c", resource_id=file, version=1, filename=file, locator=locator, label=locator.label(file), quote="q",
            verdict=Verdict.SUPPORTED, score=1.0,
        )  # fmt: skip

    cited = [on(1, "H.pdf", 7), on(2, "H.pdf", 2), on(3, "L.pdf", 5), on(4, "H.pdf", 5), on(5, "H.pdf", 8, 8, 9)]
    assert with_references("So.", cited).split("References\n")[1] == (
        "[1][2][4] H.pdf (pp. 2, 5, 7)\n[3] L.pdf (p. 5)\n[5] H.pdf (pp. 8-9)"
    )
