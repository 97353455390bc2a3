"""Numbers and times in questions."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.tables.meaning.mentions import WrittenTime, mentions


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("more than 1,700 or CHF 5k", [1700.0, 5000.0]),
        ("over half a dozen, at most twenty-five", [6.0, 25.0]),
        ("two hundred and fifty of 1'250", [250.0, 1250.0]),
        ("1.5 million people, a couple of houses", [1_500_000.0, 2.0]),
        ("below -3.5 degrees", [-3.5]),
        ("flat B-07 and part A2001x", []),
    ],
)
def test_numbers_in_digits_and_words(question: str, numbers: list[float]) -> None:
    assert [one.number for one in mentions(question)] == numbers


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("in March 2025", WrittenTime(2025, 3, 1)),
        ("in march", WrittenTime(None, 3, 1)),
        ("in the first quarter of 2024", WrittenTime(2024, 1, 3)),
        ("Q3 2025", WrittenTime(2025, 7, 3)),
        ("H2 2024", WrittenTime(2024, 7, 6)),
        ("on the 3rd of June", WrittenTime(None, 6, 1, 3)),
        ("on 14 May 2025", WrittenTime(2025, 5, 1, 14)),
        ("May 14, 2025", WrittenTime(2025, 5, 1, 14)),
        ("2025-03-01", WrittenTime(2025, 3, 1, 1)),
        ("15.1.2026", WrittenTime(2026, 1, 1, 15)),
        ("1/15/2026", WrittenTime(2026, 1, 1, 15)),
    ],
)
def test_times(question: str, time: WrittenTime) -> None:
    assert [one.time for one in mentions(question)] == [time]


@pytest.mark.parametrize(
    ("question", "numbers", "times"),
    [
        ("Wie viele Rechnungen über 1.250,50 Franken gab es im März 2025?", [1250.5], [WrittenTime(2025, 3, 1)]),
        ("die zwei teuersten Wohnungen seit dem 1. Juni", [2.0], [WrittenTime(None, 6, 1, 1)]),
        ("Quelles sont les dépenses de plus de 1 250,50 francs en août ?", [1250.5], [WrittenTime(None, 8, 1)]),
        ("¿Cuántas reparaciones hubo el 3 de mayo de 2024?", [], [WrittenTime(2024, 5, 1, 3)]),
        ("Quante sono le riparazioni di settembre sopra trecento euro?", [300.0], [WrittenTime(None, 9, 1)]),
        ("Wat is de huur van een woning?", [], []),
    ],
)
def test_numbers_and_times_in_other_languages(question: str, numbers: list[float], times: list[WrittenTime]) -> None:
    found = mentions(question)
    assert [one.number for one in found if one.time is None] == numbers
    assert [one.time for one in found if one.time is not None] == times


def test_a_year_is_a_number_too() -> None:
    (year,) = mentions("since 2019")
    assert (year.number, year.time) == (2019.0, WrittenTime(2019))


def test_a_day_that_can_be_read_in_two_ways_is_no_time() -> None:
    assert all(one.time is None or one.time.day is None for one in mentions("on 3/4/2026"))


def test_a_span_ends_where_the_next_begins() -> None:
    assert WrittenTime(2024, 10, 3).span(2024) == (date(2024, 10, 1), date(2025, 1, 1))
    assert WrittenTime(None, 2, 1, 28).span(2026) == (date(2026, 2, 28), date(2026, 3, 1))


@given(st.text(alphabet="0123456789 .,'/-:abmthqeyuary", max_size=60))
def test_mentions_stand_apart_within_the_question(question: str) -> None:
    found = mentions(question)
    assert all(0 <= one.start < one.end <= len(question) for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
