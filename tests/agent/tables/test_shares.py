"""Questions for a share of the rows: what it is a share of is counted too, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, Sheets, answer_of

OVERDUE = "Status is overdue in 2 of 6 rows in “Loans”, which is 33.3% [2]."
IN_ACCRA = "Status is overdue in 1 of 3 rows in “Loans” where Branch is Accra, which is 33.3% [2]."


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    return Sheets(tmp_path)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What percentage of the loans are overdue?", OVERDUE),
        ("How many percent of the loans are overdue?", OVERDUE),
        ("What share of borrowers is overdue?", OVERDUE),
        ("What proportion of loans in Accra are overdue?", IN_ACCRA),
        ("What percentage of the rows have status active?", OVERDUE.replace("overdue", "active").replace("[2]", "[1]")),
    ],
)
async def test_a_share_of_the_rows_is_counted(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of loans are overdue in Accra?",
        "What percentage of the amount is overdue?",
        "What percentage of loans are overdue or active?",
        "What share of the loans is not paid?",
    ],
)
async def test_a_share_that_could_be_of_something_else_is_not_guessed(sheets: Sheets, question: str) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    said = await answer_of(sheets, question)
    assert said is None or said.startswith("refused")


async def test_customers_with_several_rows_are_not_counted_by_rows(sheets: Sheets) -> None:
    rows = [(1, "open"), (1, "paid"), (2, "paid")]
    sheets.add({"Customer ID": "integer", "State": "text"}, rows, filename="orders.csv", sheet=None)
    said = await answer_of(sheets, "What percentage of customers are paid?")
    assert said is not None
    assert said.startswith("refused: several rows have the same Customer ID")


async def test_a_total_row_is_no_row_of_a_share(sheets: Sheets) -> None:
    rows = [("Ama", "paid", 4), ("Kofi", "paid", 6), ("Esi", "open", 5), ("Yaw", "open", 5), ("Total", None, 20)]
    sheets.add({"Name": "text", "State": "text", "Amount": "integer"}, rows, sheet="People")
    said = await answer_of(sheets, "What percentage of the people are paid?")
    assert said is not None
    assert said.startswith("State is paid in 2 of 4 rows")
