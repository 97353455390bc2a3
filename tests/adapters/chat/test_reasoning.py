"""What a model thinks aloud is no part of its answer; everything else is."""

from __future__ import annotations

import pytest

from citewell.adapters.chat.reasoning import SpokenText


def _heard(text: str, size: int) -> str:
    spoken = SpokenText()
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    return "".join(map(spoken.read, pieces)) + spoken.rest()


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("There are 312.", "There are 312."),
        ("<think>Hm. 999?</think>\n\nThere are 312.", "There are 312."),
        ("\n<reasoning>a </think> b < c</reasoning>312 < 313", "312 < 313"),
        ("<thinking></thinking>", ""),
        ("<think>It never ends", ""),
        ("In HTML, <think>x</think> is unknown.", "In HTML, <think>x</think> is unknown."),
        ("<thin", "<thin"),
        ("<table><tr>", "<table><tr>"),
        ("<think>a</think><think>b</think>", "<think>b</think>"),
        ("  indented", "  indented"),
        ("", ""),
    ],
)
def test_only_a_thought_at_the_beginning_is_left_out(text: str, heard: str, size: int) -> None:
    assert _heard(text, size) == heard
