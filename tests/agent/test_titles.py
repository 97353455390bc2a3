"""Titles that are written short or in full."""

from __future__ import annotations

import pytest

from citewell.agent.understand.titles import as_written, titles_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who is the CEO?", ["CEO"]),
        ("Ada Reed, Chief Executive\nOfficer and VP of sales", ["CEO", "VP"]),
        ("A senior vice president is no vice-president.", ["SVP", "VP"]),
        ("They spend much on R&D and HR.", ["R&D", "HR"]),
        ("An ARVP, a three-hour walk, presidents", []),
    ],
)
def test_titles_are_told_in_either_form(text: str, expected: list[str]) -> None:
    assert titles_in(text) == expected


def test_a_question_takes_the_form_of_the_passages() -> None:
    assert as_written("Who is the CEO?", ["Ada Reed, chief executive officer"]) == "Who is the chief executive officer?"
    assert as_written("Who is the chief executive officer?", ["CEO Ada Reed"]) == "Who is the CEO?"


def test_a_title_that_the_passages_have_too_or_not_at_all_is_left_as_it_is() -> None:
    assert as_written("Who is the CEO?", ["The CEO, or chief executive officer, is Ada Reed."]) == "Who is the CEO?"
    assert as_written("Who is the CEO?", ["Ada Reed directs sales."]) == "Who is the CEO?"
