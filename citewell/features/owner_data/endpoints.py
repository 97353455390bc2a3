"""HTTP for exporting and erasing an owner's data."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from citewell.features.declared import ADMIN, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner, while_admitted
from citewell.features.json_bodies import SoundRoute
from citewell.features.owner_data.schemas import ErasureIn, ErasureOut
from citewell.features.owner_data.service import OwnerDataService
from citewell.features.routing import Router
from citewell.features.waiting import begun
from citewell.types.audit import AuditAction

router = Router(tags=["your data"], responses=ERROR_RESPONSES, route_class=SoundRoute)
_ARCHIVE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/zip": {}}, "description": "a ZIP archive"}}


def _service(request: Request) -> OwnerDataService:
    return request.app.state.services.owner_data


@router.get(
    "/export",
    access=everything(ADMIN),
    audit=changes(AuditAction.DATA_EXPORTED),
    response_class=StreamingResponse,
    responses=_ARCHIVE,
)
async def export_everything(request: Request, owner: Owner, principal: CurrentPrincipal) -> StreamingResponse:
    """Export everything: the uploaded files, and the database's content as JSON."""
    headers = {"Content-Disposition": 'attachment; filename="citewell-export.zip"'}
    pieces = while_admitted(request, principal, await begun(_service(request).export(owner)))
    return StreamingResponse(pieces, media_type="application/zip", headers=headers)


@router.post("/erasure", access=everything(ADMIN), audit=changes(AuditAction.DATA_ERASED))
async def erase_everything(request: Request, body: ErasureIn, owner: Owner) -> ErasureOut:
    """Erase everything that belongs to the owner, and check that nothing is left. Tokens are revoked too, except this machine's owner's."""
    return ErasureOut.model_validate(await _service(request).erase(owner, body.confirm))
