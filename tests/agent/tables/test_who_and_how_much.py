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
        ("did we spend more on travel or rent?", RENT),
        ("was more spent on travel than on rent?", RENT),
        ("did we spend more on travel or rent or software?", None),
    ],
)
async def test_what_two_kinds_of_rows_add_up_to_is_compared(sheets: Sheets, question: str, answer: str | None) -> None:
    sheets.add(SPENDING, SPENDING_ROWS, filename="ledger.csv", sheet=None)
    found = await answer_of(sheets, question)
    assert found == answer or (answer is None and found is not None and found.startswith("refused: "))
