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
        ("Let me see. <think>999?</think>There are 312.", "Let me see. There are 312."),
        ("In HTML, `<think>` is unknown.", "In HTML, `<think>` is unknown."),
        ("[THINK]999?[/THINK]There are 312 [1].", "There are 312 [1]."),
        ("<|channel|>analysis<|message|>999?<|end|><|start|>assistant<|channel|>final<|message|>312.", "312."),
        ("<|channel|>final<|message|>312.<|return|>", "312."),
        ("<thin", "<thin"),
        ("<table><tr>", "<table><tr>"),
        ("<think>a</think><think>b</think>", ""),
        ("  indented", "  indented"),
        ("", ""),
    ],
)
def test_only_thoughts_are_left_out(text: str, heard: str, size: int) -> None:
    assert _heard(text, size) == heard


@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_a_thought_that_the_template_began_is_taken_back_at_its_end(size: int) -> None:
    spoken, heard = SpokenText(), ""
    text = "Okay. Perhaps 999?\n</think>\n\nThere are 312."
    for at in range(0, len(text), size):
        said = spoken.read(text[at : at + size])
        heard = said if spoken.retracted else heard + said
    assert heard + spoken.rest() == "There are 312."
