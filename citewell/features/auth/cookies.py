"""A token in a cookie, for browsers: where it is, and what proves that a request comes from our own page.

The cookie holds the token itself, out of reach of scripts, so revoking or expiring the token ends the session. Cookies are shared by all
ports of a host, therefore the port is part of the name.
"""

from __future__ import annotations

import hashlib
import hmac

from starlette.requests import Request
from starlette.responses import Response

from citewell.errors import ForeignRequest

CSRF_HEADER = "X-CSRF-Token"
SESSION_SECONDS = 30 * 86_400
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def cookie_name(request: Request) -> str:
    """The session cookie's name at the address that the browser sees."""
    return f"citewell_{request.url.port or request.url.scheme}"


def session_token(request: Request) -> str | None:
    """The token in the request's cookie, if it has one."""
    return request.cookies.get(cookie_name(request)) or None


def csrf_of(token: str) -> str:
    """What Citewell's page sends along: derived from the token, so that nothing need be kept; only same-origin scripts can ask for it."""
    return hmac.new(token.encode(), b"citewell csrf", hashlib.sha256).hexdigest()


def check_csrf(request: Request, token: str) -> None:
    """Raise `ForeignRequest` for a request that changes something and does not prove that our page sent it."""
    if request.method in _SAFE:
        return
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), csrf_of(token).encode()):
        raise ForeignRequest


def set_session(request: Request, response: Response, token: str) -> None:
    """Put the token into a cookie that no script can read and no other site makes the browser send."""
    response.set_cookie(
        cookie_name(request),
        token,
        max_age=SESSION_SECONDS,
        httponly=True,
        secure=request.url.scheme == "https",
        samesite="strict",
        path="/",
    )


def end_session(request: Request, response: Response) -> None:
    """Have the browser forget the token."""
    response.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict")
