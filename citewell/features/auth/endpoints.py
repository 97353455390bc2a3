"""HTTP for tokens (create, list, revoke), and for browser sessions, which keep a token in a cookie."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from citewell.errors import ForeignRequest, Unauthorized
from citewell.features.auth.cookies import check_csrf, csrf_of, end_session, session_token, set_session
from citewell.features.auth.schemas import NewToken, SessionIn, SessionOut, TokenIn, TokenList, TokenOut
from citewell.features.auth.service import AuthService
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute

router = APIRouter(tags=["tokens"], responses=ERROR_RESPONSES, route_class=SoundRoute)
session_router = APIRouter(tags=["session"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> AuthService:
    return request.app.state.services.auth


@router.post("/tokens", status_code=201)
async def create_token(request: Request, body: TokenIn, owner: Owner) -> NewToken:
    """A new token for this owner."""
    info, secret = await _service(request).create_token(owner, body.name, body.days)
    return NewToken(**TokenOut.of(info).model_dump(), token=secret)


@router.get("/tokens")
async def list_tokens(request: Request, owner: Owner) -> TokenList:
    """Valid tokens of this owner."""
    return TokenList(tokens=[TokenOut.of(info) for info in await _service(request).list_tokens(owner)])


@router.delete("/tokens/{token_id}", status_code=204)
async def revoke_token(request: Request, token_id: str, owner: Owner) -> Response:
    """End a token's validity."""
    await _service(request).revoke_token(owner, token_id)
    return Response(status_code=204)


@session_router.get("/session")
async def get_session(request: Request) -> SessionOut:
    """Whether the cookie's token is valid. Needs no token."""
    token = session_token(request)
    try:
        owner = await _service(request).authenticate(token)
    except Unauthorized:
        return SessionOut(signed_in=False, version=request.app.version)
    return SessionOut(signed_in=True, owner=owner, csrf=csrf_of(token or ""), version=request.app.version)


@session_router.post("/session")
async def sign_in(request: Request, response: Response, body: SessionIn) -> SessionOut:
    """Exchange a token for a cookie that scripts cannot read."""
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise ForeignRequest
    token = body.token.strip()
    owner = await _service(request).authenticate(token)
    set_session(request, response, token)
    return SessionOut(signed_in=True, owner=owner, csrf=csrf_of(token), version=request.app.version)


@session_router.delete("/session", status_code=204)
async def sign_out(request: Request) -> Response:
    """Have the browser forget the token."""
    token = session_token(request)
    if token is not None:
        check_csrf(request, token)
    response = Response(status_code=204)
    end_session(request, response)
    return response
