"""First and last, earliest and latest: by the column of dates, not by the order in which the rows happen to be."""

from __future__ import annotations

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


async def test_the_last_row_of_the_sheet_is_the_lowest_one(sheets: Sheets) -> None:
    sheets.add(INVOICES, INVOICE_ROWS, filename="invoices.csv", sheet=None)
    assert await answer_of(sheets, "What is the amount in the last row?") is None  # and not that of the latest day
