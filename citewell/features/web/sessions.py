"""HTTP for the browser's session: the token of the link is exchanged for a cookie."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.errors import ForeignRequest, Unauthorized
from citewell.features.auth.cookies import check_csrf, csrf_of, end_session, session_token, set_session
from citewell.features.auth.service import AuthService
from citewell.features.http import ERROR_RESPONSES
from citewell.features.json_bodies import SoundRoute
from citewell.features.requests import RequestBody

router = APIRouter(tags=["session"], responses=ERROR_RESPONSES, route_class=SoundRoute)


class SessionIn(RequestBody):
    """The token to sign in with."""

    token: str = Field(min_length=1, max_length=8_192)


class SessionOut(BaseModel):
    """Whether the browser is signed in, as whom, and what it sends as `X-CSRF-Token` with requests that change something."""

    signed_in: bool
    owner: str | None = Field(default=None, description="The same for all tokens of an owner")
    csrf: str | None = None
    version: str


def _auth(request: Request) -> AuthService:
    return request.app.state.services.auth


@router.get("/session")
async def get_session(request: Request) -> SessionOut:
    """Whether the cookie's token is valid. Needs no token."""
    token = session_token(request)
    try:
        owner = await _auth(request).authenticate(token)
    except Unauthorized:
        return SessionOut(signed_in=False, version=request.app.version)
    return SessionOut(signed_in=True, owner=owner, csrf=csrf_of(token or ""), version=request.app.version)


@router.post("/session")
async def sign_in(request: Request, response: Response, body: SessionIn) -> SessionOut:
    """Exchange a token for a cookie that scripts cannot read."""
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise ForeignRequest
    token = body.token.strip()
    owner = await _auth(request).authenticate(token)
    set_session(request, response, token)
    return SessionOut(signed_in=True, owner=owner, csrf=csrf_of(token), version=request.app.version)


@router.delete("/session", status_code=204)
async def sign_out(request: Request) -> Response:
    """Have the browser forget the token."""
    token = session_token(request)
    if token is not None:
        check_csrf(request, token)
    response = Response(status_code=204)
    end_session(request, response)
    return response
