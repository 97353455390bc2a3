"""HTTP for the model servers of this machine: which there are, use one, go back."""

from __future__ import annotations

from fastapi import APIRouter, Request

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.local_models.schemas import LocalModelIn, LocalModelOut, LocalModels, LocalServerOut
from citewell.features.local_models.service import LocalModelService, Overview
from citewell.system.folder import LocalModel

router = APIRouter(tags=["local model"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> LocalModelService:
    return request.app.state.services.local_models


@router.get("/local-model")
async def local_models(request: Request, owner: Owner) -> LocalModels:
    """The model servers that answer on this machine, and the model that was chosen of them."""
    return _out(await _service(request).look(owner))


@router.post("/local-model")
async def use_local_model(request: Request, body: LocalModelIn, owner: Owner) -> LocalModels:
    """Have this model write the answers from now on, if it answers a first request; 409 where the settings decide."""
    return _out(await _service(request).use(owner, LocalModel(body.server, body.model)))


@router.delete("/local-model")
async def stop_using_local_model(request: Request, owner: Owner) -> LocalModels:
    """Go back to answers that are extracted."""
    return _out(await _service(request).stop(owner))


def _out(overview: Overview) -> LocalModels:
    chosen = LocalModelOut(**overview.chosen._asdict()) if overview.chosen is not None else None
    servers = [LocalServerOut(server=one.name, models=list(one.models)) for one in overview.servers]
    return LocalModels(state=overview.state, reason=overview.reason, chosen=chosen, servers=servers)
