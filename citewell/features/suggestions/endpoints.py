"""HTTP for suggested questions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from citewell.features.declared import READ, everything
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.suggestions.schemas import SuggestionList, SuggestionOut
from citewell.features.suggestions.service import SuggestionService

router = Router(tags=["suggestions"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> SuggestionService:
    return request.app.state.services.suggestions


@router.get("/suggestions", access=everything(READ))
async def suggest(request: Request, owner: Owner, limit: Annotated[int, Query(ge=1, le=20)] = 3) -> SuggestionList:
    """Questions made from the facts, headings and columns of the owner's newest files."""
    found = await _service(request).suggest(owner, limit)
    return SuggestionList(suggestions=[SuggestionOut.model_validate(suggestion) for suggestion in found])
