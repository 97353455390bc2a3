"""HTTP for questions to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, TurnRequest
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.resources.service import ResourceService
from citewell.features.suggestions.service import Check, SuggestionService
from citewell.types import Citation, Scope

router = APIRouter(tags=["suggestions"], responses=ERROR_RESPONSES, route_class=SoundRoute)


class SuggestionOut(BaseModel):
    """A question that the file can be expected to answer."""

    question: str
    resource_id: str
    filename: str


class SuggestionList(BaseModel):
    """Questions, those of different files first."""

    suggestions: list[SuggestionOut]


def _suggestions(request: Request) -> SuggestionService:
    """One service per server, which remembers what it has found out about each file."""
    state, services = request.app.state, request.app.state.services
    if not hasattr(state, "suggestions"):
        resources: ResourceService = services.resources
        # Asking a model costs money; the extractive answerer is asked before its questions are offered.
        check = _answers(services.chat.assistant) if services.settings.chat.provider == "none" else None
        state.suggestions = SuggestionService(resources.resources, resources.content, check)
    return state.suggestions


def _answers(assistant: Assistant) -> Check:
    async def check(owner_id: str, question: str, resource_id: str) -> Sequence[Citation]:
        turn = TurnRequest(owner_id=owner_id, message=question, scope=Scope(resource_ids=(resource_id,)))
        ends = [event async for event in assistant.run(turn) if isinstance(event, Done)]
        return ends[-1].answer.citations if ends and ends[-1].answer.answered else ()

    return check


@router.get("/suggestions")
async def suggest(request: Request, owner: Owner, limit: Annotated[int, Query(ge=1, le=20)] = 3) -> SuggestionList:
    """Questions made from the facts, headings and columns of the owner's newest files."""
    found = await _suggestions(request).suggest(owner, limit)
    return SuggestionList(
        suggestions=[SuggestionOut(question=s.question, resource_id=s.resource_id, filename=s.filename) for s in found]
    )
