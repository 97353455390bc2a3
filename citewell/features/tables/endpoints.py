"""HTTP for the rows and columns of data files."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from citewell.features.declared import READ, resource, views
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner, ResourceId
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.tables.schemas import RowPage, SpreadOut
from citewell.features.tables.service import TableService
from citewell.features.waiting import unless_left
from citewell.types.audit import AuditAction

router = Router(tags=["tables"], responses=ERROR_RESPONSES, route_class=SoundRoute)

Whole = Annotated[int, Query(ge=0, le=2**31 - 1)]


def _service(request: Request) -> TableService:
    return request.app.state.services.tables


@router.get(
    "/resources/{resource_id}/tables/{table_id}/rows",
    access=resource(READ),
    audit=views(AuditAction.FILE_READ, subject="resource_id"),
)
async def list_rows(
    request: Request,
    resource_id: ResourceId,
    table_id: str,
    owner: Owner,
    principal: CurrentPrincipal,
    offset: Whole = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
    row: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
) -> RowPage:
    """Rows of a table (`extraction_metadata.tables`); with `row`, starting at that row."""
    return RowPage.of(
        await unless_left(
            request, _service(request).page(owner, principal.owner_id, resource_id, table_id, offset, limit, row)
        )
    )


@router.get(
    "/resources/{resource_id}/tables/{table_id}/spread",
    access=resource(READ),
    audit=views(AuditAction.FILE_READ, subject="resource_id"),
)
async def spread(
    request: Request,
    resource_id: ResourceId,
    table_id: str,
    owner: Owner,
    principal: CurrentPrincipal,
    column: Annotated[str, Query(min_length=1, max_length=1_000)],
) -> SpreadOut:
    """The distribution of a column's values."""
    return SpreadOut.model_validate(
        await unless_left(request, _service(request).spread(owner, principal.owner_id, resource_id, table_id, column))
    )
