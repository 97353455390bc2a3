"""HTTP for monitoring: health, readiness and metrics."""

from __future__ import annotations

from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from citewell.features.declared import ADMIN, PUBLIC, READ, everything, nothing
from citewell.features.health.schemas import Examination, FindingOut, Health, IndexChangeOut, Readiness, RebuildingOut
from citewell.features.health.service import HealthService
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.routing import Router

router = Router(tags=["health"], is_lenient=True)


def _service(request: Request) -> HealthService:
    return request.app.state.services.health


@router.get("/health", access=PUBLIC)
async def health(request: Request) -> Health:
    """Whether the server is running. Needs no token."""
    return Health(version=request.app.version)


@router.get("/ready", access=nothing(READ), responses=ERROR_RESPONSES)
async def ready(request: Request, response: Response, _owner: Owner) -> Readiness:
    """Whether the database, the index and the model work; 503 if one does not. If a vendor's embedder is down or the disk has no space for more files, the server stays ready but `degraded`."""
    service = _service(request)
    parts = await service.check()
    is_ready = service.is_ready(parts)
    degraded = is_ready and not all(part["ok"] for part in parts.values())
    response.status_code = 200 if is_ready else 503
    rebuilding = RebuildingOut.model_validate(service.rebuilding) if service.rebuilding else None
    changing = [IndexChangeOut.model_validate(change) for change in service.changes]
    return Readiness(ready=is_ready, degraded=degraded, rebuilding=rebuilding, changing=changing, parts=parts)


@router.get("/doctor", access=nothing(ADMIN), responses=ERROR_RESPONSES)
async def doctor(request: Request, owner: Owner) -> Examination:
    """The findings of `citewell doctor`. Only the server's owner sees the configuration."""
    findings = await _service(request).examine(owner)
    return Examination(findings=[FindingOut.model_validate(finding) for finding in findings])


@router.get("/metrics", access=everything(ADMIN), responses=ERROR_RESPONSES, response_class=Response)
async def metrics(request: Request, _owner: Owner) -> Response:
    """Prometheus figures."""
    return Response(await _service(request).metrics(), media_type=CONTENT_TYPE_LATEST)
