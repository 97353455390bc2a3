"""HTTP for the search of earlier conversations: turn it on or off, and search."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from citewell.features.declared import ASK, READ, changes, everything
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.memory.schemas import ExchangeList, ExchangeOut, MemoryIn, MemoryOut
from citewell.features.memory.service import MemoryService
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(tags=["memory"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> MemoryService:
    return request.app.state.services.memory


@router.get("/memory", access=everything(READ))
async def get_memory(request: Request, owner: Owner) -> MemoryOut:
    """Whether your earlier conversations are searched for answers. Off until you turn it on."""
    return MemoryOut.model_validate(await _service(request).state(owner))


@router.put("/memory", access=everything(ASK), audit=changes(AuditAction.MEMORY_CHANGED))
async def switch_memory(request: Request, body: MemoryIn, owner: Owner) -> MemoryOut:
    """Let your earlier conversations be searched for answers, or end it."""
    return MemoryOut.model_validate(await _service(request).switch(owner, body.enabled))


@router.get("/memory/search", access=everything(READ))
async def search_memory(
    request: Request,
    owner: Owner,
    q: Annotated[str, Query(max_length=2_000)],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> ExchangeList:
    """Search your earlier conversations by meaning and by words; 409 while it is off."""
    found = await _service(request).search(owner, q, limit)
    return ExchangeList(exchanges=[ExchangeOut.of(one) for one in found])
