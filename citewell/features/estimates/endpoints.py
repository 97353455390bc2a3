"""HTTP for estimates of uploads."""

from __future__ import annotations

from fastapi import Request

from citewell.features.declared import WRITE, narrowed, not_audited
from citewell.features.estimates.schemas import UploadEstimateIn, UploadEstimateOut
from citewell.features.estimates.service import EstimateService
from citewell.features.http import ERROR_RESPONSES, NarrowedGrant
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router

router = Router(tags=["resources"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> EstimateService:
    return request.app.state.services.estimates


@router.post("/ingest/estimate", access=narrowed(WRITE), audit=not_audited("keeps nothing"))
async def estimate_ingest(request: Request, body: UploadEstimateIn, grant: NarrowedGrant) -> UploadEstimateOut:
    """Estimate the paid model usage of uploading these files. Nothing is uploaded, and no provider is called."""
    files = [file.planned() for file in body.files]
    found = await _service(request).estimate(grant.owner_id, files, body.multimodal, projects=grant.kept_to)
    return UploadEstimateOut.of(found)
