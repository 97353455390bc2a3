"""Cells as figures, headers and questions as periods."""

from __future__ import annotations

from decimal import Decimal

import pytest

from citewell.agent.tables.lookup.figures import CellValue, converted, currency_of, read_cell, scale_of, shown_value
from citewell.agent.tables.lookup.periods import Period, PeriodLength, asked_periods, column_period, without_periods


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$ (1,577)", "-1577"), ("($4,935)", "-4935"), ("17,606", "17606"), ("-3.5", "-3.5"), ("15.6%", "15.6"),
        ("(4.8%)", "-4.8"), ("(4.8)%", "-4.8"), (".5", "0.5"), ("€ 12", "12"), ("12(1)", "12"), ("2.1x", "2.1"),
    ],
)  # fmt: skip
def test_a_cell_with_one_figure_is_read(text: str, number: str) -> None:
    found = read_cell(text)
    assert found is not None
    assert found.number == Decimal(number)
    assert found.percent == ("%" in text)


@pytest.mark.parametrize("text", ["", "—", "n/a", "$ 10,208.6 $ 8,630.9", "Q4 2022", "12 weeks", "1,2", "1" * 50, "$"])
def test_a_cell_without_exactly_one_figure_has_no_value(text: str) -> None:
    assert read_cell(text) is None


def test_a_note_states_scale_and_currency() -> None:
    assert (scale_of("In millions, except per share data"), scale_of("(000's)"), scale_of("per member")) == (6, 3, None)
    assert (currency_of("Dollars in millions"), currency_of("in thousands of euros"), currency_of("in millions")) == (
        "$",
        "€",
        "",
    )


def test_amounts_are_shown_at_their_scale() -> None:
    amount = CellValue(Decimal(17606), currency="$", exponent=6)
    assert shown_value(amount) == "$17,606 million"
    assert shown_value(converted(amount, 9)) == "$17.606 billion"
    assert shown_value(CellValue(Decimal("-4.8"), percent=True)) == "-4.8%"
    assert shown_value(CellValue(Decimal(-12), currency="GHS")) == "-GHS 12"


@pytest.mark.parametrize(
    ("header", "around", "period"),
    [
        ("2022", "Years ended December 31,", Period(2022, PeriodLength.YEAR, 0, 12, 31)),
        ("Three months ended December 31, 2022", "", Period(2022, PeriodLength.QUARTER, 0, 12, 31)),
        ("52 Weeks Ended January 28, 2023", "", Period(2023, PeriodLength.YEAR, 0, 1, 28)),
        ("Q3 2021", "", Period(2021, PeriodLength.QUARTER, 3)),
        ("As of June 30, 2023", "", Period(2023, PeriodLength.ANY, 0, 6, 30)),
        ("Change 2022 to 2021", "", None),
        ("Total", "2022", None),
        ("2,022", "", None),
    ],
)
def test_a_header_names_one_period_or_none(header: str, around: str, period: Period | None) -> None:
    assert column_period(header, around) == period


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("sales in FY22", [2022]),
        ("sales in FY2023, FY2022 and FY2021", [2021, 2022, 2023]),
        ("sales from 2019 to 2022", [2019, 2020, 2021, 2022]),
        ("sales in 2019 and 2022", [2019, 2022]),
        ("sales over 2,022 units", []),
    ],
)
def test_a_question_names_its_years(question: str, years: list[int]) -> None:
    assert [period.year for period in asked_periods(question)] == years


def test_a_quarter_is_not_answered_with_a_year_nor_a_year_with_a_quarter() -> None:
    (quarter,) = asked_periods("sales in the fourth quarter of 2022")
    (year,) = asked_periods("sales in 2022")
    assert (quarter.quarter, quarter.span) == (4, PeriodLength.QUARTER)
    annual, fourth = Period(2022, PeriodLength.YEAR, 0, 12), Period(2022, PeriodLength.QUARTER, 4)
    assert (annual.meets(quarter), fourth.meets(quarter), annual.meets(year), fourth.meets(year)) == (
        False,
        True,
        True,
        False,
    )
    assert not Period(2022, PeriodLength.YEAR, 0, 1).meets(Period(2022, PeriodLength.ANY, 0, 12))


def test_dates_and_lengths_are_no_words_of_a_measure() -> None:
    assert without_periods("sales for the 13 weeks ended January 28, 2023").split() == [
        "sales",
        "for",
        "the",
        "ended",
        ",",
    ]
