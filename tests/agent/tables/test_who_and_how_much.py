"""Who meets a condition, what the rows of one person add up to, and which of two the money went to."""

from __future__ import annotations

import pytest

from citewell.types import ColumnKind
from tests.agent.tables.sheets import Sheets, answer_of

STAFF: dict[str, ColumnKind] = {
    "Name": "text",
    "Department": "text",
    "Manager": "text",
    "Hours per week": "integer",
    "Salary": "integer",
}
STAFF_ROWS = (
    ("Ana Ruiz", "IT", "Bo Lind", 40, 52000),
    ("Bo Lind", "Sales", None, 40, 71000),
    ("Cyd Marsh", "IT", "Bo Lind", 32, 48000),
    ("Dee Katz", "HR", "Ana Ruiz", 20, 39000),
)
HOURS: dict[str, ColumnKind] = {"Date": "date", "Employee": "text", "Project": "text", "Hours": "number"}
HOUR_ROWS = (
    ("2025-03-03", "Raj Patel", "Alpha", 7.5),
    ("2025-03-03", "Mia Lang", "Beta", 8.0),
    ("2025-03-04", "Raj Patel", "Beta", 6.0),
    ("2025-03-05", "Raj Patel", "Alpha", 8.0),
)
FLATS: dict[str, ColumnKind] = {
    "Flat": "text",
    "City": "text",
    "Rooms": "integer",
    "Rent": "integer",
    "Size": "integer",
}
FLAT_ROWS = (("A1", "Ghent", 2, 950, 55), ("B2", "Ghent", 3, 1250, 80), ("C3", "Lyon", 2, 870, 48))
SPENDING: dict[str, ColumnKind] = {"Date": "date", "Category": "text", "Amount": "number"}
SPENDING_ROWS = (
    ("2025-01-03", "Rent", 1850.0),
    ("2025-01-14", "Travel", 212.4),
    ("2025-02-03", "Rent", 1850.0),
    ("2025-02-19", "Travel", 388.2),
    ("2025-03-10", "Software", 504.0),
)
RENT = "Total Amount was higher for Rent, 3700 [1], than for Travel, 600.6 [2], a difference of 3099.4."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who reports to Bo Lind?", "- Ana Ruiz [1]\n- Cyd Marsh [2]"),
        ("who in HR reports to Ana Ruiz?", "Dee Katz [1]"),
        ("who does Cyd Marsh report to?", "Manager for Cyd Marsh: Bo Lind [1]."),
        ("who works less than 40 hours?", "- Cyd Marsh [1]\n- Dee Katz [2]"),
        ("who earns more than 50000?", "- Ana Ruiz: Salary 52,000 [1]\n- Bo Lind: Salary 71,000 [2]"),
    ],
)
async def test_who_is_answered_with_names(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(STAFF, STAFF_ROWS, filename="staff.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("hours of Raj Patel",
         "The total of Hours is 21.5, over 3 rows where Employee is Raj Patel [1][2][3].\n"
         "- 2025-03-03: Hours 7.5 [1]\n- 2025-03-04: Hours 6 [2]\n- 2025-03-05: Hours 8 [3]"),
        ("hours of Raj Patel on Beta", "2025-03-04: Hours 6 [1]"),
    ],
)  # fmt: skip
async def test_amounts_of_several_rows_are_added_up_and_shown(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(HOURS, HOUR_ROWS, filename="timesheet.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("flats under 1000", "- A1: Rent 950 [1]\n- C3: Rent 870 [2]"),
        ("flats over 60", "The Flat where Size is over 60 is B2 [1]."),
        ("flats under 100", None),
    ],
)
async def test_a_number_within_the_amounts_and_nothing_else_is_an_amount(
    sheets: Sheets, question: str, answer: str | None
) -> None:
    sheets.add(FLATS, FLAT_ROWS, filename="homes.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("did we spend more on travel or rent?", RENT),
        ("was more spent on travel than on rent?", RENT),
        ("did we spend more on travel or rent or software?", None),
    ],
)
async def test_what_two_kinds_of_rows_add_up_to_is_compared(sheets: Sheets, question: str, answer: str | None) -> None:
    sheets.add(SPENDING, SPENDING_ROWS, filename="ledger.csv", sheet=None)
    found = await answer_of(sheets, question)
    assert found == answer or (answer is None and found is not None and found.startswith("refused: "))
