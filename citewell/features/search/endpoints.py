"""HTTP for search."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response

from citewell.features.declared import READ, narrowed, views
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, NarrowedGrant
from citewell.features.json_bodies import SoundRoute, dumped
from citewell.features.routing import Router
from citewell.features.search.schemas import SearchIn, SearchOut, hit_json, passage_json, trace_json
from citewell.features.search.service import SearchService
from citewell.features.turns import projects_named
from citewell.filters.language import inferred_to_json, parse_filters
from citewell.retrieve.project_filters import seen_by
from citewell.types import Scope, SearchRequest
from citewell.types.accounts import Grant
from citewell.types.audit import AuditAction

router = Router(tags=["search"], responses=ERROR_RESPONSES, route_class=SoundRoute)


@router.post("/search", access=narrowed(READ), audit=views(AuditAction.SEARCHED), response_model=SearchOut)
async def search(request: Request, body: SearchIn, grant: NarrowedGrant, principal: CurrentPrincipal) -> Response:
    """Find passages by meaning and by keyword."""
    service: SearchService = request.app.state.services.search
    found = await service.search_for(principal.owner_id, _typed(body, grant, service.top_k))
    answer: dict[str, Any] = {
        "hits": [hit_json(hit) for hit in found.hits],
        "inferred_filters": [inferred_to_json(one) for one in found.inferred],
    }
    if notices := [notice for notice in (service.notice, found.notice) if notice]:
        answer["notice"] = " ".join(notices)
    if body.neighbours:
        answer["passages"] = [passage_json(passage) for passage in found.passages]
    if body.debug:
        answer["trace"] = trace_json(found.trace)
    return Response(dumped(answer), media_type="application/json")


def _typed(body: SearchIn, grant: Grant, top_k: int) -> SearchRequest:
    return SearchRequest(
        owner_id=grant.owner_id,
        query=body.query,
        top_k=top_k if body.top_k is None else body.top_k,
        scope=Scope(project_ids=grant.kept_to),
        projects=grant.narrowed(projects_named(body.project, body.projects)),
        resource_ids=tuple(body.resource_ids) if body.resource_ids is not None else None,
        types=tuple(body.types) if body.types is not None else None,
        conditions=seen_by(grant, parse_filters(body.filters)),
        options=body.options(),
    )
