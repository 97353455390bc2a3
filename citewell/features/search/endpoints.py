"""HTTP for search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Request, Response

from citewell.errors import InvalidInput
from citewell.features.declared import READ, narrowed, views
from citewell.features.forms import form_object, form_of, receive_upload
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, NarrowedGrant
from citewell.features.json_bodies import SoundRoute, dumped
from citewell.features.routing import Router
from citewell.features.search.pictures import MAX_EXAMPLE_BYTES, PictureSearch
from citewell.features.search.schemas import (
    PictureScopeIn,
    PictureSearchIn,
    PictureSearchOut,
    SearchIn,
    SearchOut,
    hit_json,
    passage_json,
    trace_json,
)
from citewell.features.search.service import SearchService
from citewell.features.turns import projects_named
from citewell.filters.language import inferred_to_json, parse_filters
from citewell.retrieve.project_filters import seen_by
from citewell.types import Scope, SearchRequest
from citewell.types.accounts import Grant
from citewell.types.audit import AuditAction

router = Router(tags=["search"], responses=ERROR_RESPONSES, route_class=SoundRoute)
_EXAMPLE_FIELDS: dict[str, Any] = {
    "file": {"type": "string", "format": "binary"},
    "search": {"type": "string", "description": "a JSON object: see `PictureScopeIn`"},
}


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


@router.post("/search/pictures", access=narrowed(READ), audit=views(AuditAction.SEARCHED))
async def search_pictures(
    request: Request, body: PictureSearchIn, grant: NarrowedGrant, principal: CurrentPrincipal
) -> PictureSearchOut:
    """Find pictures by the words in and around them, or like a stored picture. To send the example, use `/search/pictures/example`."""
    pictures: PictureSearch = request.app.state.services.pictures
    if (body.query is None) == (body.resource_id is None):
        raise InvalidInput("Send either `query` or `resource_id`.")
    asked = _pictures_typed(body, grant, pictures.top_k)
    if body.resource_id is not None:
        return PictureSearchOut.of(await pictures.like_stored(asked, body.resource_id, body.blob))
    asked = replace(asked, query=body.query or "")
    return PictureSearchOut.of(await pictures.with_words(principal.owner_id, asked))


@router.post(
    "/search/pictures/example",
    access=narrowed(READ),
    audit=views(AuditAction.SEARCHED),
    openapi_extra=form_of(_EXAMPLE_FIELDS),
)
async def search_pictures_by_example(
    request: Request, grant: NarrowedGrant, principal: CurrentPrincipal
) -> PictureSearchOut:
    """Find copies, details and scaled versions of a picture that is sent as `file`; it is not kept.

    Pictures that show something similar are found as well if the embedding model takes pictures. `search` is a JSON object, as in `PictureScopeIn`.
    """
    pictures: PictureSearch = request.app.state.services.pictures
    upload = await receive_upload(request, pictures.receiving, MAX_EXAMPLE_BYTES, _EXAMPLE_FIELDS)
    try:
        body = form_object(upload, "search", PictureScopeIn)
        asked = _pictures_typed(body, grant, pictures.top_k)
        return PictureSearchOut.of(
            await pictures.like_file(principal.owner_id, asked, upload.file.path, upload.filename)
        )
    finally:
        upload.file.path.unlink(missing_ok=True)


def _pictures_typed(body: PictureScopeIn, grant: Grant, top_k: int) -> SearchRequest:
    return SearchRequest(
        owner_id=grant.owner_id,
        query="",
        top_k=top_k if body.top_k is None else body.top_k,
        scope=Scope(project_ids=grant.kept_to),
        projects=grant.narrowed(projects_named(body.project, body.projects)),
        resource_ids=tuple(body.resource_ids) if body.resource_ids is not None else None,
        conditions=seen_by(grant, parse_filters(body.filters)),
    )


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
