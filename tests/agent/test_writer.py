"""What a model says is handed on as it comes, without what could become a link, a citation of nothing, or no text at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.citations.markdown import neutralise
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.interface import Source, TextDelta
from citewell.text.sentences import sentence_spans
from citewell.text.tokens import composed
from tests.agent.fakes import hit


def _said(*pieces: str) -> str:
    emitted: list[TextDelta] = []
    writer = AnswerWriter(emitted.append, lambda: (Source(1, hit("The limit is 5.")),))
    for piece in pieces:
        writer.write(piece)
    whole = writer.finish()
    assert "".join(delta.text for delta in emitted) == whole
    return whole


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (("a \ud83d", "\ude00 b"), "a 😀 b"),
        (("a \ud83d", " b"), "a \ufffd b"),
        (("\ude00",), "\ufffd"),
        (("see !", "!", "[x]", "(y)"), "see [x] (y)"),
        (("so [", "1", "] and [2", "]."), "so [1] and."),
        (("! [2", "]", "[x]"), "! [x]"),
        (("<[2]b>",), "< b>"),
        (("<", "[2", "]", "b>"), "< b>"),
        (("w", "ww", ".a.b"), "www. a.b"),
        (("htt", "ps:", "/", "/a"), "https: //a"),
    ],
)
def test_a_construct_that_comes_in_pieces_is_seen_whole(pieces: tuple[str, ...], whole: str) -> None:
    assert _said(*pieces) == whole


@given(st.text(alphabet="![]()<>:/wW.a1, \n"), st.integers(1, 4))
def test_the_size_of_the_pieces_does_not_matter_to_what_is_safe(text: str, size: int) -> None:
    said = _said(*(text[start : start + size] for start in range(0, len(text), size)))
    assert neutralise(said) == said


@given(st.text(alphabet='a.!?… \n\t\u00a0)"。-1A'))
def test_sentences_do_not_overlap_and_leave_out_only_white_space(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


def test_long_runs_of_combining_marks_are_parted_and_short_ones_left() -> None:
    assert composed("e\u0301", "NFKC") == "é"
    written = "a" + "\u0301" * 100
    assert composed(written, "NFC").replace("\u034f", "") == "á" + "\u0301" * 99


@pytest.mark.parametrize("marks", ["\u0301", "\U0001d165", "\u0301\U0001d165"])
def test_the_longest_run_that_is_left_has_thirty_marks_of_any_plane(marks: str) -> None:
    run = (marks * 31)[:31]
    assert "\u034f" not in composed(f"a{run[:30]} b", "NFD")
    assert "\u034f" in composed(f"a{run} b", "NFD")
