"""HTTP for the rows and columns of data files."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.tables.service import TableBrowser
from citewell.storage.table_copies import SqlTables

router = APIRouter(tags=["tables"], responses=ERROR_RESPONSES, route_class=SoundRoute)

Whole = Annotated[int, Query(ge=0, le=2**31 - 1)]


class RowOut(BaseModel):
    """A row: the number that a person sees in the file, and the cells."""

    row: int
    cells: list[str | int | float | bool | None]


class RowPage(BaseModel):
    """Rows in the file's order, from `offset` on."""

    columns: list[str]
    rows: list[RowOut]
    offset: int
    total: int


class BarOut(BaseModel):
    """How many rows have this value, or lie from here to the next bar."""

    label: str
    count: int


class SpreadOut(BaseModel):
    """How a column's values are distributed."""

    numeric: bool = Field(description="bars are ranges of equal width; else the most frequent values")
    bars: list[BarOut]
    others: int


def _browser(request: Request) -> TableBrowser:
    services = request.app.state.services
    resources = services.resources
    cache = services.settings.data / "cache"
    return TableBrowser(SqlTables(resources.resources, resources.projects, resources.content, resources.blobs, cache))


def _cell(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | bool | float):
        return value
    # Larger whole numbers would lose digits in a browser.
    return value if isinstance(value, int) and abs(value) < 2**53 else str(value)


@router.get("/resources/{resource_id}/tables/{table_id}/rows")
async def list_rows(
    request: Request,
    resource_id: str,
    table_id: str,
    owner: Owner,
    offset: Whole = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
    row: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
) -> RowPage:
    """Rows of a table (`extraction_metadata.tables`); with `row` from that row on."""
    page = await _browser(request).page(owner, resource_id, table_id, offset, limit, row)
    rows = [RowOut(row=number, cells=[_cell(value) for value in cells]) for number, cells in page.rows]
    return RowPage(columns=list(page.columns), rows=rows, offset=page.offset, total=page.total)


@router.get("/resources/{resource_id}/tables/{table_id}/spread")
async def spread(
    request: Request,
    resource_id: str,
    table_id: str,
    owner: Owner,
    column: Annotated[str, Query(min_length=1, max_length=1_000)],
) -> SpreadOut:
    """How the values of a column are distributed."""
    found = await _browser(request).spread(owner, resource_id, table_id, column)
    bars = [BarOut(label=bar.label, count=bar.count) for bar in found.bars]
    return SpreadOut(numeric=found.numeric, bars=bars, others=found.others)
