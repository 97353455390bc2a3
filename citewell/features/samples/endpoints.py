"""HTTP for trying things out: adds the sample files that ship with Citewell."""

from __future__ import annotations

from fastapi import Request

from citewell.features.declared import WRITE, changes, everything
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.samples.schemas import SamplesOut
from citewell.features.samples.service import SampleService
from citewell.types.audit import AuditAction

router = Router(tags=["samples"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> SampleService:
    return request.app.state.services.samples


@router.post("/samples", access=everything(WRITE), audit=changes(AuditAction.SAMPLES_ADDED), status_code=202)
async def add_samples(request: Request, owner: Owner) -> SamplesOut:
    """Add the sample files to the owner's default project."""
    return SamplesOut(resource_ids=await _service(request).add(owner))
