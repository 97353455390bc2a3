"""Figures in a text: their values, however they are written, and where they are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from citewell.agent.citations.numbers import find_figures, find_missing_figures


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5", {"5"}),
        ("5,000", {"5", "5000"}),  # a fraction with three places, or a group
        ("5.000", {"5", "5000"}),
        ("1.234", {"1.234", "1234"}),
        ("1,234,567", {"1234567"}),
        ("1.234.567", {"1234567"}),
        ("1,234.5", {"1234.5"}),
        ("1.234,5", {"1234.5"}),
        ("1'234'567.5", {"1234567.5"}),
        ("12 000", {"12000"}),
        ("12\u00a0000", {"12000"}),
        ("0.25", {"0.25"}),
        ("0,25", {"0.25"}),
        ("2.50", {"2.5"}),
        ("5k", {"5000"}),
        ("5 thousand", {"5000"}),
        ("1.5 million", {"1500000"}),
        ("2 bn", {"2000000000"}),
        ("3 Mrd", {"3000000000"}),
        ("4 trillion", {"4000000000000"}),
        ("7 Tsd", {"7000"}),
        ("1.2.3", {"1.2"}),
        ("five", {"5"}),
        ("forty-two", {"42"}),
        ("three hundred and seven", {"307"}),
        ("nineteen hundred", {"1900"}),
        ("two million five hundred thousand", {"2500000"}),
        ("nobody", set()),
    ],
)
def test_the_values_of_a_figure(text: str, values: set[str]) -> None:
    assert {value for figure in find_figures(text) for value in figure.values} == {Decimal(value) for value in values}


def test_figures_have_their_places_and_say_whether_they_are_words() -> None:
    text = "In 2024 (up 3%) seven of AC-2501 cost -1,200 k."
    found = [(text[f.start : f.end], f.spelled) for f in find_figures(text)]
    assert found == [("2024", False), ("3", False), ("seven", True), ("2501", False), ("1,200 k", False)]


@pytest.mark.parametrize(
    ("claim", "source", "missing"), [("1.500", "1.5", []), ("1.500", "1500", []), ("1.5", "1500", ["1.5"])]
)
def test_a_figure_that_may_be_read_in_two_ways_agrees_with_both(claim: str, source: str, missing: list[str]) -> None:
    assert find_missing_figures(claim, source) == missing


def test_what_is_missing_is_named_as_it_is_written() -> None:
    claim = "Of 5,000 loans two were late, three were lost, and 17 k were new."
    assert find_missing_figures(claim, "5000 loans") == ["three", "17 k"]
    assert find_missing_figures(claim, "5000 loans, 3 lost, 17,000 new") == []


def test_only_the_first_hundred_digits_of_a_run_count() -> None:
    (figure,) = find_figures("9" * 300)
    assert figure.values == frozenset({Decimal("9" * 100).normalize()})
