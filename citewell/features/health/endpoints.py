"""HTTP for those who watch the server: alive, ready, and figures."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from citewell.features.health.findings import Level
from citewell.features.health.service import HealthService
from citewell.features.http import ERROR_RESPONSES, Owner

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"
    version: str


class RebuildingOut(BaseModel):
    """How far the index is that is being rebuilt, in chunks; `problem` is what it waits for."""

    done: int
    total: int
    problem: str


class Readiness(BaseModel):
    """Whether each part works, and how far the index is while it is being rebuilt: searches find what is there already."""

    ready: bool
    rebuilding: RebuildingOut | None = None
    parts: dict[str, dict[str, Any]]


class FindingOut(BaseModel):
    """One thing that was looked at; `advice` says what to do about a note or an error."""

    part: str
    level: Level
    text: str
    advice: str


class Examination(BaseModel):
    """What is configured and what can be reached."""

    findings: list[FindingOut]


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
    rebuilding = RebuildingOut(**asdict(service.rebuilding)) if service.rebuilding else None
    return Readiness(ready=is_ready, rebuilding=rebuilding, parts=parts)


@router.get("/doctor", responses=ERROR_RESPONSES)
async def doctor(request: Request, owner: Owner) -> Examination:
    """What `citewell doctor` finds. What is configured is told to the server's own owner only."""
    service: HealthService = request.app.state.services.health
    findings = await service.examine(with_configuration=owner == request.app.state.services.local_owner)
    return Examination(findings=[FindingOut(**asdict(finding)) for finding in findings])


@router.get("/metrics", responses=ERROR_RESPONSES, response_class=Response)
async def metrics(request: Request, _owner: Owner) -> Response:
    """Prometheus figures."""
    service: HealthService = request.app.state.services.health
    await service.refresh_metrics()
    return Response(generate_latest(service.metrics), media_type=CONTENT_TYPE_LATEST)
