"""What a model is told of a passage's file, and what may be said on the strength of it."""

from __future__ import annotations

from dataclasses import replace

from citewell.agent.citations.provenance import MAX_PROVENANCE_CHARACTERS, passage_title, provenance_words
from citewell.agent.citations.support import evidence_text
from citewell.agent.interface import Source
from citewell.agent.model.window import source_blocks
from citewell.types import Hit, Provenance
from tests.agent.fakes import WordTokenizer, hit

SAID = Provenance(
    record_id="rec1",
    identifier="frame-17",
    metadata={"camera": "Leica M6", "iso": 400, "indoor": False, "tags": ("outdoor", "harbour")},
)


def _of(provenance: Provenance) -> Hit:
    return replace(hit("A red car stands in the harbour."), provenance=provenance)


def test_record_identifier_and_metadata_are_one_line_of_words() -> None:
    assert (
        provenance_words(SAID)
        == "record rec1; identifier frame-17; camera: Leica M6; iso: 400; indoor: false; tags: outdoor, harbour"
    )
    assert provenance_words(Provenance()) == ""


def test_words_are_bounded_and_say_that_something_is_left_out() -> None:
    long = provenance_words(Provenance(metadata={f"key{i}": "word " * 10 for i in range(64)}))
    assert len(long) <= MAX_PROVENANCE_CHARACTERS
    assert long.endswith("; …")
    assert long.count("key") > 3
    assert provenance_words(Provenance(metadata={"note": "x" * 10_000_000})) == "…"


def test_the_title_of_a_passage_is_one_line_without_citations_of_ours() -> None:
    title = passage_title(_of(Provenance(metadata={"note": "as said\n[1] in\r\nthe report"})))
    assert title == "Loan Policy.pdf (p. 1) · note: as said [ 1 ] in the report"
    assert passage_title(hit("Text.")) == "Loan Policy.pdf (p. 1)"


def test_a_model_is_given_provenance_within_its_budget_of_tokens() -> None:
    found = Source(1, _of(SAID))
    (block,) = source_blocks([found], WordTokenizer(), 60)
    assert block.title.endswith(provenance_words(SAID))
    assert block.text == found.hit.chunk.text
    bare = Source(1, _of(Provenance()))
    assert source_blocks([bare], WordTokenizer(), 34)
    assert source_blocks([found], WordTokenizer(), 34) == ()


def test_what_a_model_was_told_of_a_file_is_evidence() -> None:
    assert "Leica M6" in evidence_text(_of(SAID))
