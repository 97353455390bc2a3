"""The text under a heading that asks the question answers it, in reading order."""

from __future__ import annotations

import pytest

from citewell.agent.extractive.asked_above import find_section
from citewell.agent.extractive.thresholds import THRESHOLDS
from tests.agent.fakes import hit

MAY = hit(
    "A person may moor when all of this is true.\n1. They own the boat.\n2. They have paid the fee.\n3. They are of age.\n"
    "4. They can swim.\nThe harbour master looks at the papers.",
    headings=("2. Who may moor",),
)
MAY_NOT = hit(
    "We do not take houseboats, or boats without papers. A skipper who was sent away may moor again after two years.",
    headings=("2. Who may moor", "Who may not"),
    ordinal=1,
)
FEES = hit("Any skipper may moor for a night and pay in the morning.", headings=("Fees",), ordinal=2)


def said(question: str) -> list[str]:
    return [one.shown for one in find_section(question, [FEES, MAY_NOT, MAY], THRESHOLDS)]


def test_a_heading_that_asks_the_question_has_the_answer_below_it() -> None:
    assert said("Who may moor?")[0] == "A person may moor when all of this is true."


def test_a_list_that_the_section_begins_with_is_given_to_its_end() -> None:
    assert said("Who may moor?")[1:] == [
        "1. They own the boat.",
        "2. They have paid the fee.",
        "3. They are of age.",
        "4. They can swim.",
    ]


def test_a_question_that_denies_is_answered_below_a_heading_that_does() -> None:
    assert said("Who may not moor?")[0] == "We do not take houseboats, or boats without papers."


@pytest.mark.parametrize("question", ["Who may moor overnight?", "Fees", "Who?", "How many boats may moor?"])
def test_no_other_question_is_asked_by_a_heading(question: str) -> None:
    assert said(question) == []


def test_how_something_is_done_is_told_to_the_end_under_a_heading_and_a_name_that_ask() -> None:
    section = hit(
        "Fill the tank. Press CLEAN. Wait for the lamp. Rinse it twice. Empty the tray.",
        headings=("How do I descale the machine?",),
        filename="Coffee maker.md",
    )
    found = find_section("How do I descale the coffee machine?", [section], THRESHOLDS)
    assert [one.shown for one in found][-1] == "Empty the tray."
    assert find_section("How do I descale the washing machine?", [section], THRESHOLDS) == []
