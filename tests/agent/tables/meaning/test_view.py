"""What is shown of a table beside a question, and the conditions that its numbers and times make."""

from __future__ import annotations

import pytest

from citewell.agent.tables.meaning.mentions import mentions
from citewell.agent.tables.meaning.view import MAX_LISTED, ColumnView, conditions_of, shown_values
from citewell.agent.tables.query.typed import ColumnRef, Comparator, DatePart, RowCondition

DAYS = ColumnView("Paid", "date", ColumnRef("Paid"), years=(2024, 2025))
AMOUNTS = ColumnView("Amount", "number", ColumnRef("Amount"))
NAMES = tuple(
    f"{first} {last}" for first in ("Ada", "Ben", "Cleo", "Dan") for last in ("Frei", "Gut", "Plumber", "Itten")
)


def test_a_few_values_are_all_shown() -> None:
    assert shown_values("anything", ("open", "closed")) == ("open", "closed")


def test_of_many_values_those_are_shown_that_share_words_with_the_question() -> None:
    assert len(NAMES) > MAX_LISTED
    assert shown_values("what does cleo gut owe", NAMES)[0] == "Cleo Gut"
    assert set(shown_values("the plumbing", NAMES)) == {name for name in NAMES if "Plumber" in name}
    assert shown_values("nobody here", NAMES) == ()


def test_times_as_texts_are_shown_where_they_lie_within_the_time_that_is_named() -> None:
    months = tuple(f"{year}-{month:02}" for year in (2023, 2024) for month in range(1, 13))
    assert shown_values("visits in the first quarter of 2024", months) == ("2024-01", "2024-02", "2024-03")
    assert shown_values("visits in June", months) == ("2023-06", "2024-06")


@pytest.mark.parametrize(
    ("question", "comparison", "conditions"),
    [
        ("in 2024", Comparator.EQ, (RowCondition(ColumnRef("Paid", DatePart.YEAR), Comparator.EQ, 2024),)),
        ("in Q1 2024", Comparator.EQ, (RowCondition(ColumnRef("Paid", DatePart.QUARTER), Comparator.EQ, "2024-Q1"),)),
        (
            "in May",
            Comparator.EQ,
            (RowCondition(ColumnRef("Paid", DatePart.MONTH), Comparator.IN, ("2024-05", "2025-05")),),
        ),
        ("14 May 2025", Comparator.LT, (RowCondition(ColumnRef("Paid"), Comparator.LT, "2025-05-14"),)),
        ("May 2025", Comparator.GT, (RowCondition(ColumnRef("Paid"), Comparator.GTE, "2025-06-01"),)),
        ("May 2025", Comparator.LTE, (RowCondition(ColumnRef("Paid"), Comparator.LT, "2025-06-01"),)),
        ("in May", Comparator.LT, ()),
        ("30 February 2025", Comparator.EQ, ()),
    ],
)
def test_times_are_compared_as_calendars_have_them(
    question: str, comparison: Comparator, conditions: tuple[RowCondition, ...]
) -> None:
    assert conditions_of(mentions(question)[0], DAYS, comparison) == conditions


def test_numbers_are_compared_with_numbers_alone() -> None:
    (number,) = mentions("over 5,000.50")
    assert conditions_of(number, AMOUNTS, Comparator.GT) == (RowCondition(ColumnRef("Amount"), Comparator.GT, 5000.5),)
    assert conditions_of(number, DAYS, Comparator.GT) == ()
