"""Checking an answer, on vectors that count words: which citation is refuted, by what, and what each says."""

from __future__ import annotations

import pytest

from citewell.agent.citations.check import CheckedAnswer, CitationChecker
from citewell.agent.interface import Source
from citewell.types import Box, Element, ElementType, Locator, Piece, Verdict
from tests.agent.fakes import StoredElements, WordEmbedder, hit

LAMP = hit("The lamp of the harbour is red. It is lit at dusk by the keeper.", page=3)
DOOR = hit(
    "The door of the chapel is green. It is locked at dawn by the sexton.", resource="r2", filename="Doors.pdf", page=9
)
SOURCES = (Source(1, LAMP), Source(2, DOOR))


async def _checked(answer: str, *, settled: bool = False, sources: tuple[Source, ...] = SOURCES) -> CheckedAnswer:
    return await CitationChecker(WordEmbedder()).check("ada", answer, sources, settled=settled)


async def test_a_citation_says_where_its_words_are_and_how_sure_that_is() -> None:
    checked = await _checked("The lamp of the harbour is red [1].")
    (citation,) = checked.citations
    assert (citation.n, citation.verdict, citation.score) == (1, Verdict.SUPPORTED, 1.0)
    assert (citation.chunk_id, citation.resource_id, citation.version) == (LAMP.chunk.id, "r1", 1)
    assert (citation.filename, citation.label) == ("Loan Policy.pdf", "Loan Policy.pdf (p. 3)")
    assert citation.quote == "The lamp of the harbour is red"
    assert checked.text == "The lamp of the harbour is red [1]."
    assert (checked.removed, checked.reasons) == ((), {})


async def test_a_claim_that_another_source_states_is_refuted_with_that_reason() -> None:
    checked = await _checked("The door of the chapel is green, and locked at dawn [1].")
    (citation,) = checked.citations
    assert citation.verdict is Verdict.UNSUPPORTED
    assert checked.reasons == {1: ("another source of this turn states it, this one does not",)}


async def test_a_claim_that_both_state_as_well_is_not_refuted() -> None:
    sources = (Source(1, LAMP), Source(2, hit(LAMP.chunk.text, resource="r2", page=4)))
    checked = await _checked("The keeper lights the lamp of the harbour at dusk [1].", sources=sources)
    assert checked.reasons == {}
    assert checked.citations[0].verdict is not Verdict.UNSUPPORTED


async def test_the_other_source_has_to_say_clearly_more() -> None:
    """A margin, for two that say nearly the same: all words of the claim but two, and all but one."""
    near = Source(
        2, hit("Candles, torches, lanterns, bells and flags adorn towers of town squares at dusk.", resource="r2")
    )
    far = Source(1, hit("Candles, torches, lanterns, bells and flags adorn towers of town squares.", resource="r3"))
    checked = await _checked(
        "Torches, candles, lanterns, flags and bells adorn old towers of town squares at dusk [1].", sources=(far, near)
    )
    assert checked.reasons == {}


async def test_one_number_has_the_weakest_of_its_claims_whatever_their_order() -> None:
    true, false = "The lamp of the harbour is red [1].", "The lamp of the harbour costs 70 [1]."
    for answer in (f"{true} {false}", f"{false} {true}"):
        checked = await _checked(answer)
        (citation,) = checked.citations
        assert citation.verdict is Verdict.UNSUPPORTED
        assert checked.reasons == {1: ("figure 70 is not in the source",)}


async def test_several_numbers_are_judged_together_for_figures_and_each_for_its_words() -> None:
    sources = (Source(1, hit("The lamp costs 70 crowns.")), Source(2, hit("The door costs 90 crowns.", resource="r2")))
    checked = await _checked("The lamp costs 70 crowns and the door costs 90 crowns [1][2].", sources=sources)
    assert checked.reasons == {}
    assert {c.n for c in checked.citations} == {1, 2}


async def test_a_citation_of_nothing_is_refuted() -> None:
    checked = await _checked("[1]")
    assert checked.reasons in ({}, {1: ("no words stand before it",)})
    assert all(c.verdict is Verdict.UNSUPPORTED for c in checked.citations)


async def test_numbers_of_nothing_are_removed_once_each_in_order() -> None:
    checked = await _checked(
        "The lamp of the harbour is red [1][8]. It is lit at dusk by the keeper [8, 1, 9].", settled=True
    )
    assert checked.text == "The lamp of the harbour is red [1]. It is lit at dusk by the keeper [1]."
    assert checked.removed == (8, 9)
    unsettled = await _checked("The lamp of the harbour is red [1][8]. It is lit at dusk by the keeper [8, 1, 9].")
    assert (unsettled.text, unsettled.removed) == (checked.text, checked.removed)


async def test_links_and_pictures_are_made_harmless() -> None:
    checked = await _checked("The lamp of the harbour is red [1]. ![x](https://evil.example/a.png)")
    assert "https://" not in checked.text
    assert "![" not in checked.text


@pytest.mark.parametrize("embedded", [0, 1])
async def test_only_what_is_not_stated_word_by_word_is_embedded(embedded: int) -> None:
    embedder = WordEmbedder()
    claims = ["The lamp of the harbour is red [1].", "A keeper lights the lamp at dusk [1]."][: 1 + embedded]
    await CitationChecker(embedder).check("ada", " ".join(claims), SOURCES)
    assert embedder.texts[4:] == ["A keeper lights the lamp at dusk"][:embedded]
    assert len(embedder.texts) == 5 * embedded  # the four sentences of both sources, and the claim


async def test_the_place_is_narrowed_by_the_elements_of_the_passage() -> None:
    boxes = (Box(3, 1.0, 1.0, 9.0, 2.0), Box(3, 1.0, 3.0, 9.0, 4.0))
    text = LAMP.chunk.text
    element = Element(
        id="e1",
        type=ElementType.PARAGRAPH,
        text=text,
        locator=Locator(page=3, pages=(3,), boxes=boxes),
        span_starts=(0, text.index("It")),
    )
    asked: list[tuple[str, str, int, list[str]]] = []

    class Lookup(StoredElements):
        async def elements(self, owner_id: str, resource_id: str, version: int, ids: object) -> dict[str, Element]:
            assert isinstance(ids, list)
            asked.append((owner_id, resource_id, version, ids))
            return {"e1": element}

    found = hit(text, page=3, pieces=(Piece("e1", 0, len(text)),))
    checker = CitationChecker(WordEmbedder(), Lookup({}))
    checked = await checker.check("ada", "It is lit at dusk by the keeper [1].", [Source(1, found)])
    assert checked.citations[0].locator.boxes == boxes[1:]
    assert asked == [("ada", "r1", 1, ["e1"])]
    await checker.check("ada", "The lamp of the harbour is red [1].", [Source(1, LAMP)])
    assert len(asked) == 1, "a passage without pieces has no elements to ask for"


async def test_what_was_computed_over_the_cited_rows_is_supported_in_whatever_words() -> None:
    answer = "The total is 870, over 6 rows [1]."
    sums = (Source(1, hit("sum(Amount): 870 (rows of Figma)")),)
    told = await CitationChecker(WordEmbedder()).check("ada", answer, sums)
    computed = await CitationChecker(WordEmbedder()).check("ada", answer, sums, computed=True)
    assert told.citations[0].verdict is Verdict.UNSUPPORTED
    assert (computed.citations[0].verdict, computed.citations[0].score, computed.reasons) == (
        Verdict.SUPPORTED,
        1.0,
        {},
    )
    assert computed.citations[0].quote == "sum(Amount): 870 (rows of Figma)"


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        ("The lamp of the harbour is not red [1].", Verdict.UNSUPPORTED, "only one of claim and source denies"),
        ("The lamp of the harbour is green [1].", Verdict.WEAK, "the source has “red” instead of “green”"),
        ("It is lit at dusk by the keeper Varga [1].", Verdict.WEAK, "name Varga is not in the source"),
        ("It is lit at dusk only by the keeper [1].", Verdict.WEAK, "“only” is not in the source"),
    ],
)  # fmt: skip
async def test_words_count_against_a_claim_though_nearly_all_of_it_is_in_the_source(
    answer: str, verdict: Verdict, reason: str
) -> None:
    checked = await _checked(answer)
    assert (checked.citations[0].verdict, checked.reasons.get(1)) == (verdict, (reason,))


async def test_words_that_another_cited_source_has_are_not_foreign() -> None:
    answer = "The lamp of the harbour is red, and the door of the chapel is green [1][2]."
    checked = await _checked(answer)
    assert checked.reasons == {}


async def test_part_of_a_sentence_that_is_denied_is_no_quotation() -> None:
    source = (Source(1, hit("Nobody opens the door of the tower at night.")),)
    checked = await _checked("Someone opens the door of the tower at night [1].", sources=source)
    assert checked.citations[0].verdict is not Verdict.SUPPORTED
    cut = await _checked("It opens the door of the tower at night [1].", sources=source)
    assert cut.citations[0].verdict is not Verdict.SUPPORTED
