"""HTTP for those who watch the server: alive, ready, and figures."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from citewell.features.health.service import HealthService
from citewell.features.http import ERROR_RESPONSES, Owner

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"
    version: str


class Readiness(BaseModel):
    """Whether each part works."""

    ready: bool
    parts: dict[str, dict[str, Any]]


@router.get("/health")
async def health(request: Request) -> Health:
    """Alive? Needs no token."""
    return Health(version=request.app.version)


@router.get("/ready", responses=ERROR_RESPONSES)
async def ready(request: Request, response: Response, _owner: Owner) -> Readiness:
    """Whether the database, the index, the model and the parsers work; 503 when one does not."""
    service: HealthService = request.app.state.services.health
    parts = await service.check()
    is_ready = all(part["ok"] for part in parts.values())
    response.status_code = 200 if is_ready else 503
    return Readiness(ready=is_ready, parts=parts)


@router.get("/metrics", responses=ERROR_RESPONSES, response_class=Response)
async def metrics(request: Request, _owner: Owner) -> Response:
    """Prometheus figures."""
    service: HealthService = request.app.state.services.health
    await service.refresh_metrics()
    return Response(generate_latest(service.metrics), media_type=CONTENT_TYPE_LATEST)
