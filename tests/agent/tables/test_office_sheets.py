"""Sheets as offices keep them: quarters, staff, flats to let, invoices in several currencies, lines that sum up others."""

from __future__ import annotations

import pytest

from citewell.types import ColumnKind
from tests.agent.tables.sheets import Sheets, answer_of

QUARTERS: dict[str, ColumnKind] = {
    "Quarter": "text",
    "Revenue (EUR)": "number",
    "Margin (%)": "number",
    "Staff": "integer",
}
QUARTER_ROWS = (
    ("Q1 2025", 120_000.0, 24.0, 12),
    ("Q2 2025", 98_000.5, 18.37, 13),
    ("Q3 2025", 143_000.0, 30.0, 13),
    ("Q4 2025", 150_000.0, 15.0, 15),
)
ROSE = "Revenue was higher in Q4 2025, EUR 150,000 [2], than in Q3 2025, EUR 143,000 [1], a difference of EUR 7000."
SANK = "Margin was higher in Q1 2025, 24% [1], than in Q2 2025, 18.37% [2], a difference of 5.63 percentage points."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("By how much did revenue grow from Q3 2025 to Q4 2025?", ROSE),
        ("How much did revenue increase between Q3 2025 and Q4 2025?", ROSE),
        ("How much higher was revenue in Q4 than in Q3?", ROSE),
        ("How much more was the revenue in Q4 2025 compared to Q3 2025?", ROSE),
        ("Did staff grow between Q2 and Q3?", "Staff was the same, 13, in Q2 2025 [1] and Q3 2025 [2]."),
    ],
)  # fmt: skip
async def test_a_change_is_the_difference_of_the_two_rows_that_are_named(
    sheets: Sheets, question: str, answer: str
) -> None:
    sheets.add(QUARTERS, QUARTER_ROWS, filename="quarters.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("By what percentage did revenue grow from Q3 to Q4?", "4.9% more than in Q3 2025"),
        ("What is the percentage change in revenue between Q3 and Q4?", "4.9% more than in Q3 2025"),
        ("By how many percent did revenue rise from Q3 2025 to Q4 2025?", "4.9% more than in Q3 2025"),
        ("How much higher was revenue in Q4 than in Q3 in percent?", "4.9% more than in Q3 2025"),
        ("Revenue in Q4 compared to Q3 in percent", "4.9% more than in Q3 2025"),
        ("What was the growth rate of revenue from Q3 to Q4?", "4.9% more than in Q3 2025"),
    ],
)
async def test_a_change_is_given_in_percent_where_that_is_asked(sheets: Sheets, question: str, share: str) -> None:
    sheets.add(QUARTERS, QUARTER_ROWS, filename="quarters.csv", sheet=None)
    assert await answer_of(sheets, question) == f"{ROSE.removesuffix('.')}: {share}."


async def test_of_a_figure_below_zero_nothing_is_a_percentage(sheets: Sheets) -> None:
    sheets.add({"Quarter": "text", "Profit": "integer"}, [("Q1 2025", -200), ("Q2 2025", 100)], sheet=None)
    said = await answer_of(sheets, "By how many percent did profit grow from Q1 to Q2?")
    assert said is not None
    assert said.endswith("a difference of 300; a change from -200 to 100 has no percentage.")


async def test_percent_of_percent_is_not_guessed(sheets: Sheets) -> None:
    sheets.add(QUARTERS, QUARTER_ROWS, filename="quarters.csv", sheet=None)
    said = await answer_of(sheets, "By how many percent did the margin grow from Q1 to Q3?")
    assert said is None or said.startswith("refused")


@pytest.mark.parametrize(
    "question",
    [
        "total revenue from Q1 up to Q3",
        "How did revenue change from Q1 to Q2 to Q3?",
        "Did revenue and margin grow from Q1 to Q2?",
        "What revenue went from Q1 to Q2?",
    ],
)
async def test_a_change_of_something_else_is_not_guessed(sheets: Sheets, question: str) -> None:
    sheets.add(QUARTERS, QUARTER_ROWS, filename="quarters.csv", sheet=None)
    answer = await answer_of(sheets, question)
    assert answer is None or answer.startswith("refused: ") or "difference" not in answer


STAFF: dict[str, ColumnKind] = {
    "Name": "text",
    "Team": "text",
    "Manager": "text",
    "Remote": "text",
    "Salary": "integer",
}
STAFF_ROWS = (
    ("Ana", "IT", "Bo", "no", 50000),
    ("Bo", "Sales", None, "no", 70000),
    ("Cyd", "IT", "Bo", "yes", 60000),
    ("Dee", "HR", "Bo", "no", 45000),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("average salary in IT", "The average of Salary is 55,000, over 2 rows where Team is IT [1]."),
        ("highest salary in IT", "Salary was highest for Cyd where Team is IT: 60,000 [1]."),
        ("total salary over 48000", "The total of Salary is 180,000, over 3 rows where Salary is over 48,000 [1]."),
    ],
)  # fmt: skip
async def test_short_words_and_numbers_are_read_for_what_they_are(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(STAFF, STAFF_ROWS, filename="people.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


FLATS_TO_LET: dict[str, ColumnKind] = {
    "Flat": "text",
    "Rooms": "integer",
    "Rent (EUR)": "integer",
    "Available from": "date",
    "Balcony": "text",
}
FLATS_TO_LET_ROWS = (
    ("A1", 2, 780, "2026-02-01", "yes"),
    ("A2", 3, 1050, "2025-12-15", "no"),
    ("B1", 1, 520, "2026-01-01", "no"),
    ("C1", 4, 980, "2026-03-15", "yes"),
)
ALL_RENTS = "- A1: Rent EUR 780 [1]\n- A2: Rent EUR 1050 [2]\n- B1: Rent EUR 520 [3]\n- C1: Rent EUR 980 [4]"


@pytest.mark.full
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which flat is available first?", "Available from was earliest for A2: 2025-12-15 [1]."),
        ("cheapest flat with a balcony", "Rent was lowest for A1 where Balcony is yes: EUR 780 [1]."),
        ("average rent of flats without a balcony", "The average of Rent is EUR 785, over 2 rows where Balcony is no [1]."),
    ],
)  # fmt: skip
async def test_days_lists_and_traits(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(FLATS_TO_LET, FLATS_TO_LET_ROWS, filename="letting.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


INVOICES_IN: dict[str, ColumnKind] = {"Invoice": "text", "Amount": "integer", "Currency": "text"}
INVOICE_IN_ROWS = (("A1", 1200, "EUR"), ("A2", 850, "GBP"), ("A3", 5000, "USD"), ("A4", 100, "EUR"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("total amount in EUR", "The total of Amount is 1300, over 2 rows where Currency is EUR [1]."),
        ("total amount by currency", "Total of Amount by Currency:\n- USD: 5000 [1]\n- EUR: 1300 [2]\n- GBP: 850 [3]"),
    ],
)
async def test_amounts_of_several_currencies_are_not_added_up(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(INVOICES_IN, INVOICE_IN_ROWS, filename="currencies.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize("question", ["total January", "highest January", "average January"])
@pytest.mark.parametrize("name", ["Zwischensumme", "Gross profit", "EBIT"])
async def test_lines_that_sum_up_others_are_not_counted_with_them(sheets: Sheets, question: str, name: str) -> None:
    columns: dict[str, ColumnKind] = {"Item": "text", "January": "number"}
    rows = (("Rent", 12500.0), ("Power", 1830.0), (name, 14330.0), ("Material", 7425.0))
    sheets.add(columns, rows, filename="costs.csv", sheet=None)
    answer = await answer_of(sheets, question)
    assert answer is not None
    assert answer.startswith("refused: costs.csv holds subtotals among its rows")


ORDERS: dict[str, ColumnKind] = {"Order no": "integer", "Customer": "text", "Min. order": "integer", "Hours": "number"}
ORDER_ROWS = ((100234, "Acme", 1, 2.5), (100235, "Bolt", 10, 4.0), (100236, "Acme", 5, 1.0))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how many customers", "The number of different values of Customer is 2, over 3 rows [1]."),
        ("lowest minimum order", "The lowest Min. order is 1 [1]."),
    ],
)
async def test_numbers_that_only_tell_rows_apart_and_names_in_short(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(ORDERS, ORDER_ROWS, filename="sales.csv", sheet=None)
    assert await answer_of(sheets, question) == answer
