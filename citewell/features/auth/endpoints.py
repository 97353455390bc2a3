"""HTTP for tokens (create, list, revoke), and for browser sessions with a token in a cookie."""

from __future__ import annotations

import contextlib

from fastapi import Request, Response

from citewell.errors import Forbidden, Unauthorized
from citewell.features.audited import record_of
from citewell.features.auth.cookies import (
    check_csrf,
    check_own_page,
    end_session,
    refresh_token,
    session_token,
    set_session,
)
from citewell.features.auth.schemas import NewToken, SessionIn, SessionOut, TokenIn, TokenList, TokenOut
from citewell.features.auth.service import AuthService, check_person
from citewell.features.declared import ADMIN, PUBLIC, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(tags=["tokens"], responses=ERROR_RESPONSES, route_class=SoundRoute)
session_router = Router(tags=["session"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> AuthService:
    return request.app.state.services.auth


@router.post(
    "/tokens", access=everything(ADMIN), audit=changes(AuditAction.TOKEN_CREATED, answer="id"), status_code=201
)
async def create_token(request: Request, body: TokenIn, principal: CurrentPrincipal) -> NewToken:
    """Create a token for this owner, with all of the caller's permissions or, with `scopes` and `projects`, some of them."""
    scopes = None if body.scopes is None else frozenset(body.scopes)
    info, secret = await _service(request).create_token(principal, body.name, body.days, scopes, body.projects)
    return NewToken(**TokenOut.model_validate(info).model_dump(), token=secret)


@router.get("/tokens", access=everything(ADMIN))
async def list_tokens(request: Request, owner: Owner) -> TokenList:
    """Valid tokens of this owner."""
    return TokenList(
        tokens=[TokenOut.model_validate(info) for info in await _service(request).repository.list_tokens(owner)]
    )


@router.delete(
    "/tokens/{token_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.TOKEN_REVOKED, subject="token_id"),
    status_code=204,
)
async def revoke_token(request: Request, token_id: str, owner: Owner) -> Response:
    """Revoke a token."""
    await _service(request).revoke_token(owner, token_id)
    return Response(status_code=204)


@session_router.get("/session", access=PUBLIC)
async def get_session(request: Request) -> SessionOut:
    """Whether the cookie's token is valid. Needs no token."""
    token, service = session_token(request), _service(request)
    offered = SessionOut(
        signed_in=False,
        version=request.app.version,
        accounts=service.has_accounts,
        sign_up=service.sign_up,
        provider=service.provider,
        sends_mail=service.sends_mail,
    )
    try:
        principal = await service.authenticate(token)
        check_person(principal)
    except (Unauthorized, Forbidden):
        return offered
    update = {
        "signed_in": True,
        "owner": principal.owner_id,
        "csrf": service.csrf_of(token or ""),
        "person": principal.name,
        "administrator": principal.is_administrator,
        "seconds": service.access_seconds if principal.session_id else None,
    }
    return offered.model_copy(update=update)


@session_router.post("/session", access=PUBLIC, audit=changes(AuditAction.SIGNED_IN))
async def sign_in(request: Request, response: Response, body: SessionIn) -> SessionOut:
    """Exchange a token for a cookie that scripts cannot read."""
    check_own_page(request)
    token = body.token.strip()
    principal = await _service(request).authenticate(token)
    record_of(request).sent_by(principal)
    check_person(principal)
    set_session(request, response, token)
    return SessionOut(
        signed_in=True, owner=principal.owner_id, csrf=_service(request).csrf_of(token), version=request.app.version
    )


@session_router.delete("/session", access=PUBLIC, audit=changes(AuditAction.SIGNED_OUT), status_code=204)
async def sign_out(request: Request) -> Response:
    """Sign out: delete the browser's cookies, and end the session of an account."""
    token, service = session_token(request), _service(request)
    if token is not None:
        check_csrf(request, service.csrf_of(token))
        with contextlib.suppress(Unauthorized):
            record_of(request).sent_by(await service.authenticate(token))
    await service.end_session(token, refresh_token(request))
    response = Response(status_code=204)
    end_session(request, response, with_refresh=refresh_token(request) is not None)
    return response
