"""HTTP for questions to begin with."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.resources.service import ResourceService
from citewell.features.suggestions.service import SuggestionService

router = APIRouter(tags=["suggestions"], responses=ERROR_RESPONSES)


class SuggestionOut(BaseModel):
    """A question that the file can be expected to answer."""

    question: str
    resource_id: str
    filename: str


class SuggestionList(BaseModel):
    """Questions, those of different files first."""

    suggestions: list[SuggestionOut]


@router.get("/suggestions")
async def suggest(request: Request, owner: Owner, limit: Annotated[int, Query(ge=1, le=20)] = 3) -> SuggestionList:
    """Questions made from the headings and columns of the owner's newest files."""
    resources: ResourceService = request.app.state.services.resources
    found = await SuggestionService(resources.resources, resources.content).suggest(owner, limit)
    return SuggestionList(
        suggestions=[SuggestionOut(question=s.question, resource_id=s.resource_id, filename=s.filename) for s in found]
    )
