"""Small statements of a made-up company, as readers of PDFs leave them."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.extract.core.cells import to_markdown
from citewell.extract.core.groups import parents
from citewell.types import Box, CellPlace, Element, ElementType, Locator, ResourceInfo, Scope

INCOME = [
    ["Years ended December 31,", "2023", "2022", "2021"],
    ["Net sales", "$ 1,500", "$ 1,200", "$ 1,000"],
    ["Cost of sales", "(900)", "(780)", "(700)"],
    ["Gross profit", "600", "420", "300"],
    ["Selling, general and administrative expenses", "(150)", "(140)", "(120)"],
    ["Operating income", "450", "280", "180"],
    ["Income before income taxes", "400", "250", "160"],
    ["Income tax (expense)/benefit", "(100)", "(50)", "40"],
    ["Net income", "$ 300", "$ 200", "$ 200"],
    ["Diluted earnings per share", "$ 3.00", "$ 2.00", "$ 2.00"],
]
BALANCE = [
    ["As of December 31,", "2023", "2022"],
    ["Current assets:", "", ""],
    ["Cash and cash equivalents", "$ 120", "$ 100"],
    ["Inventories, net", "", ""],
    ["Raw materials", "40", "30"],
    ["Finished goods", "60", "50"],
    ["Total current assets", "400", "350"],
    ["Total assets", "2,000", "1,800"],
    ["Total current liabilities", "200", "250"],
]
CASH = [
    ["", "Twelve months ended", ""],
    ["", "December 31, 2023", "December 31, 2022"],
    ["Operating activities", "", ""],
    ["Net income", "$ 300", "$ 200"],
    ["Inventories", "(20)", "15"],
    ["Net cash provided by operating activities", "380", "260"],
    ["Investing activities", "", ""],
    ["Purchases of property, plant and equipment", "(130)", "(60)"],
]
QUARTER = [
    ["", "Three months ended", "", "Twelve months ended", ""],
    ["", "December 31, 2023", "December 31, 2022", "December 31, 2023", "December 31, 2022"],
    ["Store openings", "7", "5", "24", "20"],
]
RATES = [
    ["Borrower", "Most we lend (GHS)", "Longest term"],
    ["First loan", "5,000", "24 weeks"],
    ["Group loan, per member", "4,000", "16 weeks"],
]


def table(
    number: int,
    grid: Sequence[Sequence[str]],
    title: str = "",
    *,
    header_rows: int = 1,
    indents: Sequence[float] = (),
    placed: bool = True,
) -> Element:
    """A table on the page of its number, each cell 40 points wide and 10 high."""
    cells = tuple(
        CellPlace(r, c, Box(number, 100.0 * c, 20.0 * r, 100.0 * c + 40, 20.0 * r + 10))
        for r, row in enumerate(grid)
        for c, text in enumerate(row)
        if text and placed
    )
    groups = parents(grid, list(indents) or [0.0] * len(grid), header_rows)
    rows = tuple(tuple(row) for row in grid)
    return Element(
        id=f"e{number}",
        type=ElementType.TABLE,
        text=to_markdown(rows),
        locator=Locator(page=number, pages=(number,)),
        grid=rows,
        header_rows=header_rows,
        cells=cells,
        metadata={"title": title, "groups": groups},
    )


ANNUAL_REPORT = (
    table(1, INCOME, "Consolidated Statements of Income (in millions, except per share data)"),
    table(2, BALANCE, "Consolidated Balance Sheets (in millions)", indents=[0, 0, 9, 9, 18, 18, 0, 0, 0]),
    table(3, CASH, "Consolidated Statements of Cash Flows (in millions)", header_rows=2),
    table(4, QUARTER, "Stores", header_rows=2),
)


class Files:
    """`PageTables` over tables in memory, all of whose files hold the same texts; counts how often tables are asked for."""

    def __init__(self, texts: Sequence[str] = (), **tables: Sequence[Element]) -> None:
        self._tables = tables
        self._texts = texts
        self.reads = 0

    @property
    def scope(self) -> Scope:
        """All of them."""
        return Scope(resource_ids=tuple(self._tables))

    async def page_file(self, owner_id: str, resource_id: str) -> ResourceInfo:
        return ResourceInfo(
            id=resource_id, filename=f"{resource_id}.pdf", version=1, status="indexed", category="document"
        )

    async def page_tables(self, owner_id: str, resource_id: str, limit: int) -> Sequence[Element]:
        self.reads += 1
        return self._tables[resource_id][:limit]

    async def page_mentions(self, owner_id: str, resource_id: str, words: Sequence[str], limit: int) -> Sequence[str]:
        return [text for text in self._texts if any(word in text.casefold() for word in words)][:limit]
