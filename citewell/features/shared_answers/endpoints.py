"""HTTP for links to single answers: for their owner, and for the public as JSON and as a page."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response
from fastapi.responses import HTMLResponse

from citewell.errors import NotFound, RateLimited
from citewell.features.audited import record_of
from citewell.features.declared import ADMIN, PUBLIC, changes, everything, views
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner, address_of, error_headers, status_of
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.shared_answers.page import PAGE_HEADERS, answer_page, problem_page
from citewell.features.shared_answers.schemas import NewShare, SharedAnswerOut, ShareIn, ShareList, ShareOut
from citewell.features.shared_answers.service import SharedAnswerService
from citewell.types.audit import AuditAction, AuditActor
from citewell.types.sharing import ShownAnswer

router = Router(tags=["shared answers"], responses=ERROR_RESPONSES, route_class=SoundRoute)
page_router = Router(include_in_schema=False, is_lenient=True)
_Secret = Annotated[str, Path(max_length=200)]
_UNLISTED = {"X-Robots-Tag": "noindex, nofollow, noarchive"}


def _service(request: Request) -> SharedAnswerService:
    return request.app.state.services.shared_answers


async def _opened(request: Request, secret: str) -> ShownAnswer:
    """What a link shows. Opening it is recorded in its owner's audit log."""
    opened = await _service(request).open(secret, address_of(request))
    record_of(request).opened(AuditActor.LINK, opened.owner_id, opened.share_id)
    record_of(request).subject = opened.share_id
    return opened.shown


@router.post(
    "/threads/{thread_id}/messages/{message_id}/share",
    access=everything(ADMIN),
    audit=changes(AuditAction.SHARE_CREATED, answer="id"),
    status_code=201,
)
async def share_answer(
    request: Request, thread_id: str, message_id: str, body: ShareIn, principal: CurrentPrincipal
) -> NewShare:
    """Create a link that shows this answer and its cited passages to anybody who has it. The link is shown only once."""
    made, secret = await _service(request).create(principal, thread_id, message_id, body.days)
    return NewShare(**ShareOut.model_validate(made).model_dump(), path=f"/shared/{secret}")


@router.get("/shares", access=everything(ADMIN))
async def list_shares(request: Request, owner: Owner) -> ShareList:
    """Your links that have not expired."""
    return ShareList(shares=[ShareOut.model_validate(one) for one in await _service(request).repository.all(owner)])


@router.delete(
    "/shares/{share_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.SHARE_ENDED, subject="share_id"),
    status_code=204,
)
async def end_share(request: Request, share_id: str, owner: Owner) -> Response:
    """Revoke a link. Takes effect with the next request."""
    await _service(request).repository.revoke(owner, share_id)
    return Response(status_code=204)


@router.get("/shared-answers/{secret}", access=PUBLIC, audit=views(AuditAction.SHARE_OPENED))
async def get_shared_answer(request: Request, response: Response, secret: _Secret) -> SharedAnswerOut:
    """What a link shows. Needs no credential besides the secret at the end of the link."""
    response.headers.update(_UNLISTED)
    return SharedAnswerOut.model_validate(await _opened(request, secret))


@page_router.get("/shared/{secret}", access=PUBLIC, audit=views(AuditAction.SHARE_OPENED))
async def shared_answer_page(request: Request, secret: _Secret) -> HTMLResponse:
    """The page of a link: no scripts, no forms, nothing from elsewhere."""
    try:
        shown = await _opened(request, secret)
    except (NotFound, RateLimited) as error:
        headers = PAGE_HEADERS | _UNLISTED | error_headers(error)
        return HTMLResponse(problem_page(error.message), status_of(error), headers)
    return HTMLResponse(answer_page(shown), headers=PAGE_HEADERS | _UNLISTED)
