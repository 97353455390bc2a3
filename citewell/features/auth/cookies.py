"""Tokens in cookies, for browsers, and the proof that a request comes from Citewell's own page.

The cookie contains the token itself, out of reach of scripts, so revoking or expiring the token ends the session. All ports of a host
share their cookies, so the port is part of the name.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from citewell.errors import ForeignRequest

# Sent to the address to which a provider redirects people from its own site.
_FLOW_PATH = "/session/openid"
# Sent only to session addresses, which exchange it or sign out.
_REFRESH_PATH = "/session"
CSRF_HEADER = "X-CSRF-Token"
SESSION_SECONDS = 30 * 86_400
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PREFIX = "citewell_"
# RFC 6265, section 4.1.1: no quotes or backslashes, so nothing needs unescaping.
_VALUE = re.compile(rb"[!#-+\--:<-\[\]-~]*")


def own_cookies(sent: Iterable[bytes]) -> bytes:
    """Citewell's cookies from the `Cookie` headers, as one header, in time linear in their length.

    Python's cookie parser before 3.11.10 and 3.12.6 takes quadratic time for a quoted value (CVE-2024-7592), and other programs' cookies
    for the same host do not concern Citewell.
    """
    ours: list[bytes] = []
    for cookie in b";".join(sent).split(b";"):
        name, _, value = cookie.strip().partition(b"=")
        if name.startswith(_PREFIX.encode()):
            value = value.removeprefix(b'"').removesuffix(b'"')
            if _VALUE.fullmatch(value):
                ours.append(name + b"=" + value)
    return b"; ".join(ours)


def cookie_name(request: Request) -> str:
    """The session cookie's name at the address that the browser sees."""
    return f"{_PREFIX}{request.url.port or request.url.scheme}"


def session_token(request: Request) -> str | None:
    """The token in the request's cookie, if it has one."""
    return request.cookies.get(cookie_name(request)) or None


def check_csrf(request: Request, proof: str) -> None:
    """Raise `ForeignRequest` for a request that changes something without proof that Citewell's page sent it."""
    if request.method in _SAFE:
        return
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), proof.encode()):
        raise ForeignRequest


def check_own_page(request: Request) -> None:
    """Raise `ForeignRequest` if the browser says that another site sent a request that starts or renews a session."""
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise ForeignRequest
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise ForeignRequest


def refresh_token(request: Request) -> str | None:
    """The refresh token in the request's cookie, if it has one."""
    return request.cookies.get(_refresh_name(request)) or None


def set_session(request: Request, response: Response, token: str, seconds: int = SESSION_SECONDS) -> None:
    """Set a cookie with the token that scripts cannot read and other sites cannot make the browser send."""
    _set(request, response, cookie_name(request), token, seconds, "/")


def set_refresh(request: Request, response: Response, token: str, seconds: int) -> None:
    """Set such a cookie with the refresh token, sent only to session addresses."""
    _set(request, response, _refresh_name(request), token, seconds, _REFRESH_PATH)


def flow_token(request: Request) -> str | None:
    """The browser's state of a sign-in at an identity provider, if one is in progress."""
    return request.cookies.get(_flow_name(request)) or None


def set_flow(request: Request, response: Response, token: str, seconds: int) -> None:
    """Store that state in a cookie that the browser sends when the provider redirects it back."""
    _set(request, response, _flow_name(request), token, seconds, _FLOW_PATH, samesite="lax")


def end_flow(request: Request, response: Response) -> None:
    """Delete that cookie."""
    response.delete_cookie(_flow_name(request), path=_FLOW_PATH, httponly=True, samesite="lax")


def end_session(request: Request, response: Response, *, with_refresh: bool) -> None:
    """Delete the token cookies."""
    response.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict")
    if with_refresh:
        response.delete_cookie(_refresh_name(request), path=_REFRESH_PATH, httponly=True, samesite="strict")


def _refresh_name(request: Request) -> str:
    return f"{cookie_name(request)}_refresh"


def _flow_name(request: Request) -> str:
    return f"{cookie_name(request)}_openid"


def _set(
    request: Request,
    response: Response,
    name: str,
    value: str,
    seconds: int,
    path: str,
    samesite: Literal["lax", "strict"] = "strict",
) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        httponly=True,
        secure=request.url.scheme == "https",
        samesite=samesite,
        path=path,
    )
