"""HTTP schemas for rows and columns of data files."""

from __future__ import annotations

import math
from typing import Any

from pydantic import Field

from citewell.features.schemas import Schema
from citewell.features.tables.service import TablePage

# Browsers read JSON numbers as doubles, which represent integers below this exactly.
_EXACT = 2**53


class RowOut(Schema):
    """A row: its visible number in the file, and the cells."""

    row: int
    cells: list[str | int | float | bool | None]


class RowPage(Schema):
    """Rows in the file's order, from `offset` on."""

    columns: list[str]
    rows: list[RowOut]
    offset: int
    total: int

    @staticmethod
    def of(page: TablePage) -> RowPage:
        """The public form of a page."""
        rows = [RowOut(row=number, cells=[_cell(value) for value in cells]) for number, cells in page.rows]
        return RowPage(columns=list(page.columns), rows=rows, offset=page.offset, total=page.total)


class BarOut(Schema):
    """The number of rows with this value, or from here to the next bar."""

    label: str
    count: int


class SpreadOut(Schema):
    """The distribution of a column's values."""

    numeric: bool = Field(
        description="whether bars are ranges of equal width; otherwise they are the most frequent values"
    )
    bars: list[BarOut]
    others: int


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no number for it
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, str | bool | float):
        return value
    return value if isinstance(value, int) and abs(value) < _EXACT else str(value)
