"""HTTP for model servers on this machine: list them, use one, or stop using it."""

from __future__ import annotations

from fastapi import Request

from citewell.features.declared import ADMIN, READ, changes, everything
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.local_models.schemas import (
    ConnectedModelOut,
    LocalModelIn,
    LocalModelOut,
    LocalModels,
    LocalServerOut,
)
from citewell.features.local_models.service import LocalModelService, Overview
from citewell.features.routing import Router
from citewell.system.folder import LocalModel
from citewell.types.audit import AuditAction

router = Router(tags=["local model"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> LocalModelService:
    return request.app.state.services.local_models


@router.get("/local-model", access=everything(READ))
async def local_models(request: Request, owner: Owner) -> LocalModels:
    """Model servers running on this machine, and the chosen model."""
    return _out(await _service(request).look(owner))


@router.post("/local-model", access=everything(ADMIN), audit=changes(AuditAction.MODEL_CHANGED))
async def use_local_model(request: Request, body: LocalModelIn, owner: Owner) -> LocalModels:
    """Use this model for answers from now on, once a short examination has chosen its profile; 409 if the settings decide."""
    return _out(await _service(request).use(owner, LocalModel(body.server, body.model)))


@router.delete("/local-model", access=everything(ADMIN), audit=changes(AuditAction.MODEL_CHANGED))
async def stop_using_local_model(request: Request, owner: Owner) -> LocalModels:
    """Go back to extracted answers."""
    return _out(await _service(request).stop(owner))


def _out(overview: Overview) -> LocalModels:
    chosen = LocalModelOut(**overview.chosen._asdict()) if overview.chosen is not None else None
    servers = [LocalServerOut(server=one.name, models=list(one.models)) for one in overview.servers]
    now = overview.connected
    connected = ConnectedModelOut.model_validate(now) if now is not None else None
    return LocalModels(
        state=overview.state, reason=overview.reason, chosen=chosen, connected=connected, servers=servers
    )
