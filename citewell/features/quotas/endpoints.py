"""HTTP for quotas: your own and, for administrators, other people's."""

from __future__ import annotations

from fastapi import Request

from citewell.features.declared import ADMIN, READ, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.quotas.schemas import QuotaList, QuotasIn
from citewell.features.quotas.service import QuotaService
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(tags=["quotas"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> QuotaService:
    return request.app.state.services.quotas


@router.get("/quotas", access=everything(READ))
async def get_quotas(request: Request, owner: Owner) -> QuotaList:
    """Your quotas, and how much of each is used."""
    return QuotaList.of(await _service(request).repository.standings(owner))


@router.get("/people/{person_id}/quotas", access=everything(ADMIN))
async def get_person_quotas(request: Request, person_id: str, principal: CurrentPrincipal) -> QuotaList:
    """A person's quotas, for administrators."""
    return QuotaList.of(await _service(request).of_person(principal, person_id))


@router.put(
    "/people/{person_id}/quotas",
    access=everything(ADMIN),
    audit=changes(AuditAction.QUOTA_CHANGED, subject="person_id"),
)
async def change_person_quotas(
    request: Request, person_id: str, body: QuotasIn, principal: CurrentPrincipal
) -> QuotaList:
    """Set a person's quotas, for administrators. Takes effect with the next file or question."""
    return QuotaList.of(await _service(request).change(principal, person_id, body.own()))
