"""Cuts between characters as people see them, and text of another direction in a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.system.characters import cut, isolated, whole_end

WHOLE = {
    "Devanagari": "कि",
    "Thai": "น้ำ",
    "Hebrew with points": "שָּׁ",
    "combined accent": "e\u0301",
    "family": "👩‍👩‍👧",
    "hand": "👍🏽",
}


@pytest.mark.parametrize("character", WHOLE.values(), ids=WHOLE)
def test_no_character_is_cut(character: str) -> None:
    text = f"{character}{character}"
    assert {whole_end(text, end) for end in range(1, len(character) + 1)} == {len(character)}
    for most in range(len(character), len(text)):
        assert cut(text, most) == character


@given(st.text(), st.integers(1, 40))
def test_a_cut_is_a_beginning_and_no_longer_than_allowed(text: str, most: int) -> None:
    found = cut(text, most)
    assert text.startswith(found)
    assert len(found) <= most
    assert found or not text


def test_text_from_right_to_left_is_isolated_and_no_other() -> None:
    assert isolated("تقرير 2024.pdf, p. 3") == "\u2068تقرير 2024.pdf, p. 3\u2069"
    assert isolated("Übersicht 2024.pdf") == "Übersicht 2024.pdf"
