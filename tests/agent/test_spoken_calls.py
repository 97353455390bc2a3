"""Calls that a model writes as text are calls; whatever else it writes is text."""

from __future__ import annotations

import pytest

from citewell.agent.model.repeats import Repeats
from citewell.agent.model.spoken_calls import SpokenCalls
from citewell.agent.turn.specs import TOOL_NAMES

CALL = '{"name": "search_user_files", "arguments": {"query": "loan (first)"}}'


def heard(text: str, size: int) -> tuple[str, list[tuple[str, object]]]:
    spoken, shown = SpokenCalls(TOOL_NAMES), ""
    for at in range(0, len(text), size):
        shown += spoken.read(text[at : at + size])
    rest, calls = spoken.finish()
    return shown + rest, [(call.name, dict(call.arguments)) for call in calls]


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        CALL.replace("arguments", "parameters"),
        f"[TOOL_CALLS][{CALL}]",
        f"{{{CALL}}}",
        '<function=search_user_files>{"query": "loan (first)"}</function>',
        '[search_user_files(query="loan (first)")]',
        'search_user_files(query="loan (first)")',
        '{"type": "function", "function": {"name": "search_user_files", "arguments": "{\\"query\\": \\"loan (first)\\"}"}}',
    ],
)
def test_every_common_form_is_a_call(text: str, size: int) -> None:
    assert heard(text, size) == ("", [("search_user_files", {"query": "loan (first)"})])


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_what_stands_before_a_call_is_text_and_a_broken_call_is_nothing(size: int) -> None:
    assert heard(f"Sure! I search.\n{CALL}", size)[0].strip() == "Sure! I search."
    assert heard('{"name": "search_user_files", "arguments": {"query": "lo', size) == ("", [])


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        "The limit is 5,000 [1].",
        '```json\n{"limit": 5000}\n```\nas configured.',
        "[1] says so.",
        "<b>5,000</b>",
        "a_b",
        "",
    ],
)
def test_everything_else_is_text(text: str, size: int) -> None:
    assert heard(text, size) == (text, [])


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("The limit is set by the policy. " * 3, True),
        ("of the loan " * 60, True),
        ("No. " * 20, False),
        ("".join(f"Loan {n} is at most GHS {n},000 in the first year. " for n in range(40)), False),
    ],
)
def test_a_text_in_circles_is_noticed(text: str, repeats: bool) -> None:
    read = Repeats()
    assert any(read.read(text[at : at + 9]) for at in range(0, len(text), 9)) is repeats
