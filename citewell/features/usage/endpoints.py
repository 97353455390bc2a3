"""HTTP for the ledger: tokens, units and cost by day, thread or message, and what context stuffing would have used."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request

from citewell.features.declared import READ, everything
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.usage.schemas import UsageOut
from citewell.features.usage.service import UsageService

router = Router(tags=["usage"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> UsageService:
    return request.app.state.services.usage


@router.get("/usage", access=everything(READ))
async def get_usage(
    request: Request,
    owner: Owner,
    since: Annotated[float, Query(ge=0, le=1e11, description="seconds since 1970")] = 0.0,
    thread_id: str | None = None,
    message_id: str | None = None,
    by: Literal["day", "thread", "message"] = "day",
) -> UsageOut:
    """Usage since a time: in total, in one thread or for one message."""
    return UsageOut.of(await _service(request).report(owner, since, thread_id, message_id, by))
