"""HTTP for signing in with an identity provider, which redirects the browser back with a code."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode, urlsplit, urlunsplit

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from citewell.features.accounts.endpoints import sender_of, set_cookies
from citewell.features.audited import record_of
from citewell.features.auth.cookies import check_own_page, end_flow, flow_token, set_flow
from citewell.features.declared import ADMIN, PUBLIC, changes, everything, not_audited
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal
from citewell.features.identities.schemas import LinkIn, OpenIdIn, OpenIdOut
from citewell.features.identities.service import FLOW_SECONDS, Begun, IdentityService
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(tags=["accounts"], responses=ERROR_RESPONSES, route_class=SoundRoute)
# Providers add their own parameters to the redirect address.
return_router = Router(tags=["accounts"], responses=ERROR_RESPONSES, route_class=SoundRoute, is_lenient=True)
_PATH = "/session/openid"
_MAX = 4_096


def _service(request: Request) -> IdentityService:
    return request.app.state.services.identities


def _redirect(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}{_PATH}"


def _sent(request: Request, response: Response, begun: Begun) -> OpenIdOut:
    set_flow(request, response, begun.token, FLOW_SECONDS)
    return OpenIdOut(address=begun.address)


@router.post(
    _PATH,
    access=PUBLIC,
    audit=not_audited("nobody is known yet; the outcome is logged when the provider redirects the browser back"),
)
async def begin_openid(request: Request, response: Response, body: OpenIdIn) -> OpenIdOut:
    """Start signing in with the identity provider. The response has the address to go to, and sets a cookie for the return."""
    check_own_page(request)
    begun = await _service(request).begin(body.return_to, body.invitation, _redirect(request), sender_of(request))
    return _sent(request, response, begun)


@return_router.get(
    _PATH, access=PUBLIC, audit=changes(AuditAction.SIGNED_IN), status_code=303, response_class=RedirectResponse
)
async def finish_openid(
    request: Request,
    state: Annotated[str, Query(max_length=_MAX)] = "",
    code: Annotated[str | None, Query(max_length=_MAX)] = None,
    iss: Annotated[str | None, Query(max_length=_MAX)] = None,
    error: Annotated[str | None, Query(max_length=_MAX)] = None,
) -> RedirectResponse:
    """The redirect address for the identity provider. Redirects to the page that started the sign-in, with `sign_in=…` if it failed."""
    service = _service(request)
    done = await service.finish(
        flow_token(request), state=state, code=None if error else code, issuer=iss, sender=sender_of(request)
    )
    target = done.return_to if done.problem is None else _with(done.return_to, sign_in=done.problem.value)
    response = RedirectResponse(target, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    end_flow(request, response)
    if done.entry is not None:
        set_cookies(request, response, done.entry)
    else:
        record_of(request).refused(None)
    return response


@router.post("/account/identity", access=everything(ADMIN), audit=changes(AuditAction.IDENTITY_CONNECTED))
async def link_identity(request: Request, response: Response, body: LinkIn, principal: CurrentPrincipal) -> OpenIdOut:
    """Start connecting an identity to your account: after signing in at the provider you can use either. Requires the password."""
    check_own_page(request)
    begun = await _service(request).begin_link(principal, body.current_password, _redirect(request), sender_of(request))
    return _sent(request, response, begun)


@router.delete(
    "/account/identity", access=everything(ADMIN), audit=changes(AuditAction.IDENTITY_REMOVED), status_code=204
)
async def unlink_identity(request: Request, principal: CurrentPrincipal) -> Response:
    """Disconnect the identity provider, and sign in only with the password from now on."""
    await _service(request).unlink(principal)
    return Response(status_code=204)


def _with(path: str, **more: str) -> str:
    parts = urlsplit(path)
    query = "&".join(filter(None, (parts.query, urlencode(more))))
    return urlunsplit(("", "", parts.path, query, parts.fragment))
