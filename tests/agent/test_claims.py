"""Claims, figures and matches: the parts of citation checking that need no model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.citations.claims import claims, keep_known, marked_numbers
from citewell.agent.citations.markdown import neutralise, safe_end
from citewell.agent.citations.matching import find_match
from citewell.agent.citations.numbers import find_missing_figures


def test_markers_in_a_sentence_part_it_and_one_after_the_full_stop_belongs_before_it() -> None:
    found = claims("Rates fell [1] while prices rose [2]. Wages stood still. [3]")
    assert [(c.text, c.numbers) for c in found] == [
        ("Rates fell", (1,)),
        ("while prices rose", (2,)),
        ("Wages stood still.", (3,)),
    ]


def test_what_follows_a_marker_and_has_one_of_its_own_after_the_full_stop_is_a_claim_of_its_own() -> None:
    found = claims("Entry: 5; Children: free [1] Nobody pays on Sundays. [2]")
    assert [(c.text, c.numbers) for c in found] == [
        ("Entry: 5; Children: free", (1,)),
        ("Nobody pays on Sundays.", (2,)),
    ]


def test_list_items_headings_and_emphasis_do_not_count_as_words() -> None:
    found = claims("## Fees\n1. **Entry** costs 5 [1]\n- `Exit` is free [2][3]")
    assert [(c.text, c.numbers) for c in found] == [("Entry costs 5", (1,)), ("Exit is free", (2, 3))]


def test_every_claim_knows_its_whole_sentence() -> None:
    found = claims("Rates fell [1] while prices rose [2]. Wages stood still. [3]")
    assert [c.sentence for c in found] == ["Rates fell while prices rose."] * 2 + ["Wages stood still."]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is so [1], they say.", [("It is so they say.", (1,))]),
        ("It is so [1].", [("It is so", (1,))]),
        ("[1] It is so.", [("It is so.", (1,))]),
        ("So [1, 2; 3].", [("So.", (1, 2, 3))]),
        ("It is so [1]. [2] [1]", [("It is so", (1, 2))]),
        ("It is so.\n[1]\n[2]", [("It is so.", (1, 2))]),
        ("Nothing is cited. Not here either.", []),
        ("It is so [1] [2].", [("It is so", (1, 2))]),
        ("A [1] b is so [2].", [("A b is so.", (1,)), ("b is so", (2,))]),
    ],
)
def test_the_words_that_a_number_is_cited_for(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(c.text, c.numbers) for c in claims(answer)] == expected


def test_unknown_numbers_leave_the_markers_and_the_text_stays_whole() -> None:
    assert keep_known("Yes [1, 4][2]. No [9].", frozenset({1, 2})) == ("Yes [1][2]. No.", (4, 9))
    assert marked_numbers("a [2; 3] b [2]") == (2, 3)


@pytest.mark.parametrize(
    ("claim", "source", "missing"),
    [
        ("GHS 5,000", "5.000 cedis", []),
        ("5k", "5,000", []),
        ("five thousand", "GHS 5,000", []),
        ("1.2 million", "1,200,000", []),
        ("2,5 %", "2.5%", []),
        ("a loss of 5", "-5", []),
        ("GHS 5,001", "GHS 5,000", ["5,001"]),
        ("in 2021 and 2022", "in 2021", ["2022"]),
        ("one of the two", "some of them", []),
        ("seventeen of them", "18 of them", ["seventeen"]),
        ("12.5", "125", ["12.5"]),
    ],
)
def test_figures_are_compared_by_value(claim: str, source: str, missing: list[str]) -> None:
    assert find_missing_figures(claim, source) == missing


@given(st.integers(min_value=3, max_value=10**12))
def test_a_figure_agrees_with_itself_however_it_is_grouped(number: int) -> None:
    assert find_missing_figures(f"it is {number:,} in all", f"{number}") == []
    assert find_missing_figures(f"it is {number} in all", f"sum: {number:,}.") == []
    assert find_missing_figures(f"it is {number + 1} in all", f"sum: {number:,}.") == [str(number + 1)]


def test_a_match_is_found_across_line_breaks_and_case() -> None:
    match = find_match("Interest is due MONTHLY", "Fees: none.\nInterest is\ndue monthly, in cash.")
    assert match.ratio == 1.0
    assert "Fees: none.\nInterest is\ndue monthly, in cash."[match.start : match.end] == "Interest is\ndue monthly"


def test_a_near_match_is_the_stretch_that_holds_most_of_the_words() -> None:
    passage = "Bring a pen. The officer visits the shop within ten working days of the call. Then wait."
    match = find_match("The officer comes to the shop within ten days", passage)
    assert 0.7 < match.ratio < 1.0
    assert passage[match.start : match.end].startswith("The officer")


_RENDERED = ("![", "](", "]:", "<a", "<img", "https://", "http://", "www.x", "data://")


@given(st.text(alphabet="!][()<>/:ahtps.wimgdx \n", max_size=60))
def test_nothing_that_loads_or_links_survives_however_it_is_nested(text: str) -> None:
    safe = neutralise(text)
    assert not any(mark in safe.lower() for mark in _RENDERED)


@given(st.text(alphabet="!][()<>/:htpsw.x \n", max_size=60), st.integers(min_value=1, max_value=7))
def test_a_stream_is_as_safe_as_the_whole(text: str, size: int) -> None:
    held, out = "", ""
    for start in range(0, len(text), size):
        held += text[start : start + size]
        end = safe_end(held)
        out, held = out + neutralise(held[:end]), held[end:]
    out += neutralise(held)
    assert not any(mark in out.lower() for mark in _RENDERED)
