"""First and last, earliest and latest: by the column of dates, not by the order in which the rows happen to be."""

from __future__ import annotations

import pytest

from citewell.types import ColumnKind
from tests.agent.tables.sheets import Sheets, answer_of

INVOICES: dict[str, ColumnKind] = {
    "Invoice No": "integer",
    "Customer": "text",
    "Issued": "date",
    "Amount": "number",
    "Status": "text",
}
INVOICE_ROWS = (
    (1004, "Haller AG", "2025-03-14", 420.0, "open"),
    (1002, "Bauer GmbH", "2025-05-20", 1250.0, "paid"),
    (1001, "Klein KG", "2025-01-09", 310.5, "paid"),
    (1003, "Haller AG", "2025-02-11", 99.9, "open"),
)
LAST = "Invoice No 1002: Customer Bauer GmbH, Issued 2025-05-20, Amount 1250, Status paid"
OPEN = "Invoice No 1004: Customer Haller AG, Issued 2025-03-14, Amount 420, Status open"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was the last invoice?", f"The row with the latest Issued:\n- {LAST} [1]"),
        ("most recent invoice", f"The row with the latest Issued:\n- {LAST} [1]"),
        ("latest open invoice", f"The row with the latest Issued where Status is open:\n- {OPEN} [1]"),
        ("last 2 invoices", f"The rows with the latest Issued:\n- {LAST} [1]\n- {OPEN} [2]"),
        ("amount of the last invoice", "1250 is the Amount with the latest Issued: 2025-05-20 [1]."),
        ("when was the first invoice?", "The earliest Issued is 2025-01-09 [1]."),
        ("which customer had the last invoice?", "Issued was latest for Bauer GmbH: 2025-05-20 [1]."),
        ("who got the last invoice?", "refused: it is not clear what is asked of these rows (invoices.csv)"),
    ],
)
async def test_the_last_row_is_the_one_with_the_last_day(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(INVOICES, INVOICE_ROWS, filename="invoices.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


async def test_the_last_row_of_the_sheet_is_the_lowest_one(sheets: Sheets) -> None:
    sheets.add(INVOICES, INVOICE_ROWS, filename="invoices.csv", sheet=None)
    assert await answer_of(sheets, "What is the amount in the last row?") is None  # and not that of the latest day


async def test_rows_of_the_same_day_are_all_given(sheets: Sheets) -> None:
    rows = (*INVOICE_ROWS, (1005, "Klein KG", "2025-05-20", 8.0, "open"))
    sheets.add(INVOICES, rows, filename="invoices.csv", sheet=None)
    answer = await answer_of(sheets, "What was the last invoice?")
    assert answer is not None
    assert answer.startswith(f"The rows with the latest Issued:\n- {LAST} [1]\n- Invoice No 1005: ")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("first event", "Date was earliest for New year run: 2025-01-01 [1]."),
        ("last event in Ghent", "Date was latest for Spring fair where City is Ghent: 2025-04-12 [1]."),
        ("visitors of the last event", "450 is the Visitors with the latest Date: 2025-10-03 (Event: Autumn market) [1]."),
        ("last two events", "The 2 latest by Date:\n- Autumn market: 2025-10-03 [1]\n- Spring fair: 2025-04-12 [2]"),
        ("which event was last?", "Autumn market is the Event of the last row by Date [1]."),
    ],
)  # fmt: skip
async def test_rows_with_names_are_told_by_them(sheets: Sheets, question: str, answer: str) -> None:
    columns: dict[str, ColumnKind] = {"Event": "text", "City": "text", "Date": "date", "Visitors": "integer"}
    rows = (
        ("Spring fair", "Ghent", "2025-04-12", 300),
        ("Autumn market", "Lyon", "2025-10-03", 450),
        ("New year run", "Oslo", "2025-01-01", 1200),
    )
    sheets.add(columns, rows, filename="events.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("last order", "latest Ordered on:\n- Order no 7003:"),
        ("last shipped order", "latest Shipped on:\n- Order no 7002:"),
    ],
)
async def test_of_several_days_the_one_that_is_named_counts(sheets: Sheets, question: str, answer: str) -> None:
    columns: dict[str, ColumnKind] = {"Order no": "integer", "Ordered on": "date", "Shipped on": "date"}
    rows = ((7001, "2025-02-03", "2025-02-09"), (7003, "2025-04-13", "2025-04-20"), (7002, "2025-03-01", "2025-04-30"))
    sheets.add(columns, rows, filename="orders.csv", sheet=None)
    found = await answer_of(sheets, question)
    assert found is not None
    assert answer in found
