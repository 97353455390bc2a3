"""HTTP for the ledger: tokens, units and cost by day, thread or message, and what context stuffing would have taken."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.storage.usage import UsageRepository

router = APIRouter(tags=["usage"], responses=ERROR_RESPONSES, route_class=SoundRoute)


class UsageRow(BaseModel):
    """Sums of one kind and model within a day, thread or message; cost in US dollars by the price table in the settings."""

    day: str | None = Field(default=None, description="UTC, as 2026-01-31")
    thread_id: str | None = None
    message_id: str | None = None
    kind: str = Field(description="chat, embedding or rerank")
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    units: int = Field(description="answers, texts embedded, or queries reranked")
    cost: float


class Totals(BaseModel):
    """Everything within the limits of the request."""

    input_tokens: int
    output_tokens: int
    cost: float


class Comparison(BaseModel):
    """What sending every file in scope whole with each question would have taken, for the same questions."""

    messages: int
    input_tokens: int
    cost: float


class UsageOut(BaseModel):
    """Sums per day (or thread, or message), kind and model, newest first."""

    usage: list[UsageRow]
    totals: Totals
    context_stuffing: Comparison


@router.get("/usage")
async def get_usage(
    request: Request,
    owner: Owner,
    since: Annotated[float, Query(ge=0, le=1e11, description="seconds since 1970")] = 0.0,
    thread_id: str | None = None,
    message_id: str | None = None,
    by: Literal["day", "thread", "message"] = "day",
) -> UsageOut:
    """What was spent since a time, in all, in one thread or for one message."""
    repository: UsageRepository = request.app.state.services.usage
    rows = [UsageRow.model_validate(row) for row in await repository.totals(owner, since, thread_id, message_id, by)]
    spent = [row for row in rows if row.kind != "context_stuffing"]
    compared = [row for row in rows if row.kind == "context_stuffing"]
    return UsageOut(
        usage=spent,
        totals=Totals(
            input_tokens=sum(row.input_tokens for row in spent),
            output_tokens=sum(row.output_tokens for row in spent),
            cost=sum(row.cost for row in spent),
        ),
        context_stuffing=Comparison(
            messages=sum(row.units for row in compared),
            input_tokens=sum(row.input_tokens for row in compared),
            cost=sum(row.cost for row in compared),
        ),
    )
