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
    ],
)
async def test_a_share_of_the_rows_is_counted(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of loans are overdue in Accra?",
    ],
)
async def test_a_share_that_could_be_of_something_else_is_not_guessed(sheets: Sheets, question: str) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    said = await answer_of(sheets, question)
    assert said is None or said.startswith("refused")
