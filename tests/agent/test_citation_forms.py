"""Citations in the forms that models use are read as `[n]`; what names no source stays as it is."""

from __future__ import annotations

import pytest

from citewell.agent.citations.forms import CitationForms, without_source_list
from citewell.agent.citations.unmarked import UnmarkedSentences
from citewell.agent.interface import Source
from tests.agent.fakes import WordEmbedder, hit

SOURCES = (
    Source(1, hit("A first loan is at most GHS 5,000.", page=3, ordinal=1)),
    Source(2, hit("Our branch in Tema opens at eight.", filename="Handbook.pdf", page=9, ordinal=2)),
)


def read(text: str, size: int) -> str:
    forms = CitationForms(lambda: SOURCES)
    return "".join(forms.read(text[at : at + size]) for at in range(0, len(text), size)) + forms.finish()


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("It is 5,000 [Source 1].", "It is 5,000 [1]."),
        ("It is 5,000 (Source 1).", "It is 5,000 [1]."),
        ("It is 5,000【1】.", "It is 5,000[1]."),
        ("It is 5,000【1†source】.", "It is 5,000[1]."),
        ("It is 5,000 (1).", "It is 5,000 [1]."),
        ("It is 5,000 (1)", "It is 5,000 [1]"),
        ("It is 5,000<sup>1</sup>.", "It is 5,000[1]."),
        ("It is five thousand¹. And eight², too", "It is five thousand[1]. And eight[2], too"),
        ("It is so.¹ And so,² too", "It is so.[1] And so,[2] too"),
        ("It is 5,000 [n=1].", "It is 5,000 [1]."),
        ('It is 5,000 <source n="1">.', "It is 5,000 [1]."),
        ("It is 5,000 [Sources 1, 2].", "It is 5,000 [1][2]."),
        ("It is 5,000 [Loan Policy.pdf (p. 3)].", "It is 5,000 [1]."),
        ("It opens at eight (Handbook.pdf).", "It opens at eight [2]."),
        ("It is 5,000 [1].", "It is 5,000 [1]."),
        ("Area (7) is closed [Source 9].", "Area (7) is closed [Source 9]."),
        ("Steps: (1) register, (2) wait.", "Steps: (1) register, (2) wait."),
        ("10 m² [see above] a < b (unless agreed).", "10 m² [see above] a < b (unless agreed)."),
        ("", ""),
    ],
)
def test_other_forms_are_read(text: str, marked: str, size: int) -> None:
    assert read(text, size) == marked


@pytest.mark.parametrize(
    "end", ["\n\nSources:\n[1] Loan Policy.pdf", "\n\n**References**\n- [1] Loan Policy.pdf (p. 3)\n- [2] Handbook.pdf"]
)
def test_a_list_of_the_sources_at_the_end_is_no_part_of_the_answer(end: str) -> None:
    assert without_source_list(f"It is 5,000.{end}", SOURCES) == "It is 5,000."
    assert without_source_list("Both:\n[1] a loan\n[2] a branch", SOURCES) == "Both:\n[1] a loan\n[2] a branch"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("A first loan is at most GHS 5,000.", "A first loan is at most GHS 5,000. [1]"),
        ("- Our branch in Tema opens at eight.\n- Yes.", "- Our branch in Tema opens at eight. [2]\n- Yes."),
        ("A first loan is at most GHS 5,000. [1] It rains.", "A first loan is at most GHS 5,000. [1] It rains."),
        ("A first loan is at most GHS 9,000.", "A first loan is at most GHS 9,000."),
        ("Is a first loan at most GHS 5,000?", "Is a first loan at most GHS 5,000?"),
        ("```\nA first loan is at most GHS 5,000.\n```", "```\nA first loan is at most GHS 5,000.\n```"),
    ],
)
async def test_a_sentence_that_a_passage_states_gets_its_number(text: str, marked: str) -> None:
    assert await UnmarkedSentences(WordEmbedder()).mark("ada", text, SOURCES) == marked
