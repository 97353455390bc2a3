"""HTTP for the ledger: tokens and cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.storage.usage import UsageRepository

router = APIRouter(tags=["usage"], responses=ERROR_RESPONSES)


class UsageOut(BaseModel):
    """Sums per day, kind, provider and model, newest day first; cost in US dollars."""

    usage: list[dict[str, Any]]


@router.get("/usage")
async def get_usage(
    request: Request,
    owner: Owner,
    since: Annotated[float, Query(ge=0, le=1e11)] = 0.0,
    thread_id: str | None = None,
) -> UsageOut:
    """What was spent since a time (seconds since 1970), in all or in one thread."""
    repository: UsageRepository = request.app.state.services.usage
    return UsageOut(usage=[dict(row) for row in await repository.totals(owner, since, thread_id)])
